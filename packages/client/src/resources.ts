/**
 * The resources of a host. Their methods are generated from their tables; methods with other names are defined here.
 */
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

/** Connectors send messages of runs. */
export type Connectors = ResourceApi<typeof protocol.connectorsWire>;

export interface Schedules extends Omit<ScheduleApi, 'next' | 'preview'> {
  /** The next times at which it starts a run. */
  next(...args: Parameters<ScheduleApi['next']>): Promise<string[]>;
  /** The same for a cron expression that no schedule has yet. */
  preview(...args: Parameters<ScheduleApi['preview']>): Promise<string[]>;
}

/** Workflows that check something periodically, and start another workflow when it has changed. */
export interface Heartbeats extends Omit<HeartbeatApi, 'list'> {
  /** Newest first. */
  list(): Promise<protocol.Heartbeat[]>;
}

export interface Webhooks extends Omit<WebhookApi, 'list'> {
  list(): Promise<protocol.WebhookSubscription[]>;
  /** The secret is shown only once: a repeat of a request whose answer was lost is refused with that reason. */
  register: WebhookApi['create'];
  unregister: WebhookApi['remove'];
  /** A new secret, shown once; the old one signs too until `previousSecretUntil`. */
  rotateSecret: WebhookApi['rotate-secret'];
  /** The same event again, as a new delivery. */
  resend(webhookId: string, deliveryId: string): Promise<protocol.WebhookDelivery>;
}

/** For a subscription that events are sent to. */
type EventRegistration = Omit<
  protocol.TriggerSubscriptionRegistration,
  'source' | 'topic' | 'consumerGroup'
> & { source: protocol.TriggerSource };

/** For a subscription that listens to a topic. */
type QueueRegistration = Pick<
  protocol.TriggerSubscriptionRegistration,
  'workflowId' | 'consumerGroup' | 'retryPolicy' | 'inputMapping'
> & { topic: string };

type Described = protocol.TriggerSubscription & protocol.TriggerPurpose;

export type TriggerDeliveryPage = Awaited<ReturnType<TriggerApi['deliveries']>>;

/** Subscriptions that start runs from external events, or from the messages of a topic. */
export interface Triggers extends Omit<TriggerApi, 'list'> {
  list(): Promise<protocol.TriggerSubscription[]>;
  /** The list with the workflows that they start and the sources that they listen to. */
  describe(): Promise<Described[]>;
  /** The secret is shown only once: a repeat of a request whose answer was lost is refused with that reason. */
  register(request: EventRegistration): Promise<protocol.TriggerSubscriptionCreated>;
  /** Every message of the topic starts one run. No requests are sent to it, so it has no secret. */
  registerQueue(request: QueueRegistration): Promise<protocol.QueueSubscriptionCreated>;
  /** A new secret, shown once; the old one stops working. */
  rotateSecret: TriggerApi['rotate-secret'];
  unregister: TriggerApi['remove'];
}

/** Runs and events that failed permanently, kept for inspection. A retry forks a run, or delivers an event again. */
export interface DeadLetters extends DeadLetterApi {
  /** Removes it from the list. */
  acknowledge: DeadLetterApi['remove'];
}

/** Values can be written, never read. */
export interface Credentials extends CredentialApi {
  /** One step to a new root key of the database; `after` is `next` of the step before. */
  rekey(after?: string): Promise<protocol.RekeyStep>;
}

/** External services that people connected by OAuth, and the clients of this host at their providers. */
export interface Connections extends ConnectionApi {
  /** Returns the page that a person has to open, or the connection if none is needed. */
  connect: ConnectionApi['create'];
  /** Deletes its tokens, and revokes them at the provider if possible. */
  disconnect: ConnectionApi['remove'];
  clients(): Promise<protocol.OAuthClient[]>;
  /** Replaces the earlier configuration of the same provider. */
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
