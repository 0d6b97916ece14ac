/** The resources of a host: their methods follow from their tables; here is what clients call by other names. */
import type * as protocol from '@gantry/protocol';
import * as tables from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

type ScheduleApi = ResourceApi<typeof protocol.schedulesWire>;
type HeartbeatApi = ResourceApi<typeof protocol.heartbeatsWire>;
type WebhookApi = ResourceApi<typeof protocol.webhooksWire>;
type TriggerApi = ResourceApi<typeof protocol.triggerSubscriptionsWire>;
type DeadLetterApi = ResourceApi<typeof protocol.deadLettersWire>;
type CredentialApi = ResourceApi<typeof protocol.credentialsWire>;
type ConnectionApi = ResourceApi<typeof protocol.connectionsWire>;
type ClientApi = ResourceApi<typeof protocol.oauthClientsWire>;

/** What sends messages of runs. */
export type Connectors = ResourceApi<typeof protocol.connectorsWire>;

export interface Schedules extends Omit<ScheduleApi, 'next' | 'preview'> {
  /** The next times at which it starts a run. */
  next(...args: Parameters<ScheduleApi['next']>): Promise<string[]>;
  /** The same for a cron expression that no schedule has yet. */
  preview(...args: Parameters<ScheduleApi['preview']>): Promise<string[]>;
}

/** Workflows that look at something now and then, and start another when it has changed. */
export interface Heartbeats extends Omit<HeartbeatApi, 'list'> {
  /** Newest first. */
  list(): Promise<protocol.Heartbeat[]>;
}

export interface Webhooks extends Omit<WebhookApi, 'list'> {
  list(): Promise<protocol.WebhookSubscription[]>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register: WebhookApi['create'];
  unregister: WebhookApi['remove'];
  /** A new secret, shown once; the old one signs too until `previousSecretUntil`. */
  rotateSecret: WebhookApi['rotate-secret'];
  /** The same event again, as a new delivery. */
  resend(webhookId: string, deliveryId: string): Promise<protocol.WebhookDelivery>;
}

/** Of a subscription that events are sent to. */
type EventRegistration = Omit<
  protocol.TriggerSubscriptionRegistration,
  'source' | 'topic' | 'consumerGroup'
> & { source: protocol.TriggerSource };

/** Of a subscription that listens to a topic. */
type QueueRegistration = Pick<
  protocol.TriggerSubscriptionRegistration,
  'workflowId' | 'consumerGroup' | 'retryPolicy' | 'inputMapping'
> & { topic: string };

type Described = protocol.TriggerSubscription & protocol.TriggerPurpose;

export type TriggerDeliveryPage = Awaited<ReturnType<TriggerApi['deliveries']>>;

/** Subscriptions that start runs from events of the outside world, or from the messages of a topic. */
export interface Triggers extends Omit<TriggerApi, 'list'> {
  list(): Promise<protocol.TriggerSubscription[]>;
  /** The same with what they start and what they listen to. */
  describe(): Promise<Described[]>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register(request: EventRegistration): Promise<protocol.TriggerSubscriptionCreated>;
  /** Every message of the topic starts one run. Nothing is sent to it, so it has no secret. */
  registerQueue(request: QueueRegistration): Promise<protocol.QueueSubscriptionCreated>;
  /** A new secret, shown once; the old one stops working. */
  rotateSecret: TriggerApi['rotate-secret'];
  unregister: TriggerApi['remove'];
}

/** Runs and events that failed for good, kept for people to look at. A retry forks a run, or delivers an event again. */
export interface DeadLetters extends DeadLetterApi {
  /** Takes it off the list. */
  acknowledge: DeadLetterApi['remove'];
}

/** Values go in and never come out. */
export interface Credentials extends CredentialApi {
  /** One step to a new root key of the database; `after` is `next` of the step before. */
  rekey(after?: string): Promise<protocol.RekeyStep>;
}

/** Outside services that people connected by OAuth, and the clients of this host at their providers. */
export interface Connections extends ConnectionApi {
  /** Answers the page that a person has to open, or the connection where none is needed. */
  connect: ConnectionApi['create'];
  /** Its tokens are deleted, and revoked at the provider where that can be done. */
  disconnect: ConnectionApi['remove'];
  clients(): Promise<protocol.OAuthClient[]>;
  /** What was configured before for the same provider is replaced. */
  configure: ClientApi['create'];
  unconfigure: ClientApi['remove'];
}

export interface Resources {
  readonly schedules: Schedules;
  readonly heartbeats: Heartbeats;
  readonly triggers: Triggers;
  readonly webhooks: Webhooks;
  readonly deadLetters: DeadLetters;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly connectors: Connectors;
}

export function createResources(transport: Transport): Resources {
  const { read, send } = createCalls(transport);
  const schedules: ScheduleApi = api(transport, tables.SCHEDULES);
  const heartbeats: HeartbeatApi = api(transport, tables.HEARTBEATS);
  const webhooks: WebhookApi = api(transport, tables.WEBHOOKS);
  const triggers: TriggerApi = api(transport, tables.TRIGGER_SUBSCRIPTIONS);
  const deadLetters: DeadLetterApi = api(transport, tables.DEAD_LETTERS);
  const connections: ConnectionApi = api(transport, tables.CONNECTIONS);
  const clients: ClientApi = api(transport, tables.OAUTH_CLIENTS);
  const { path, url } = tables.TRIGGER_SUBSCRIPTIONS;
  return {
    schedules: {
      ...schedules,
      next: async (...args) => (await schedules.next(...args)).times,
      preview: async (...args) => (await schedules.preview(...args)).times,
    },
    heartbeats: { ...heartbeats, list: async () => (await heartbeats.list()).heartbeats },
    webhooks: {
      ...webhooks,
      register: webhooks.create,
      rotateSecret: webhooks['rotate-secret'],
      list: async () => (await webhooks.list()).webhooks,
      unregister: webhooks.remove,
      resend(webhookId, deliveryId) {
        const [webhook, delivery] = [webhookId, deliveryId].map(encodeURIComponent);
        return send(`/v1/host/gantry/webhooks/${webhook}/deliveries/${delivery}:resend`, {});
      },
    },
    triggers: {
      ...triggers,
      rotateSecret: triggers['rotate-secret'],
      list: async () => (await triggers.list()).subscriptions,
      describe: async () =>
        (await read<{ subscriptions: Described[] }>(`/v1/host/gantry/${path}`)).subscriptions,
      register: (request) => send(url, request),
      registerQueue: (request) => send(url, { source: 'queue', ...request }),
      unregister: triggers.remove,
    },
    deadLetters: { ...deadLetters, acknowledge: deadLetters.remove },
    credentials: {
      ...api<typeof protocol.credentialsWire>(transport, tables.CREDENTIALS),
      rekey: (after) => send('/v1/host/gantry/rekey', after === undefined ? {} : { after }),
    },
    connections: {
      ...connections,
      connect: connections.create,
      disconnect: connections.remove,
      clients: async () => (await clients.list()).clients,
      configure: clients.create,
      unconfigure: clients.remove,
    },
    connectors: api(transport, tables.CONNECTORS),
  };
}
