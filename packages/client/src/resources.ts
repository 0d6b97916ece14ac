/** The resources of a host: an API for each wire of the protocol, and methods with other names for some. */
import type * as protocol from '@gantry/protocol';
import type * as wires from '@gantry/protocol/resources';
import { TABLES } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import { type Calls, createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

type Wires = { [K in keyof typeof wires as K extends `${infer N}Wire` ? N : never]: (typeof wires)[K] };
type Apis = { readonly [N in keyof Wires]: ResourceApi<Wires[N]> };

/** Every wire has its table: anything else does not compile. */
const tables = TABLES satisfies { [N in keyof Wires]: Wires[N]['table'] };

type Named = ReturnType<typeof named>;

export type Resources = Omit<Apis, keyof Named> & Named;
export type Schedules = Named['schedules'];
export type Heartbeats = Named['heartbeats'];
export type Webhooks = Named['webhooks'];
export type Triggers = Named['triggers'];
export type DeadLetters = Named['deadLetters'];
export type Credentials = Named['credentials'];
export type Connections = Named['connections'];
export type Connectors = Apis['connectors'];
export type TriggerDeliveryPage = Awaited<ReturnType<Apis['triggerSubscriptions']['deliveries']>>;

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

export function createResources(transport: Transport): Resources {
  const each = Object.entries(tables).map(([name, table]): [string, unknown] => [
    name,
    api<protocol.Wire>(transport, table),
  ]);
  const apis = Object.fromEntries(each) as Apis;
  return { ...apis, ...named(apis, createCalls(transport)) };
}

function named(of: Apis, calls: Calls) {
  const { send } = calls;
  const { schedules, heartbeats, webhooks, triggerSubscriptions, deadLetters, connections, oauthClients } =
    of;
  return {
    schedules: {
      ...schedules,
      /** The next times at which it starts a run. */
      next: async (...args: Parameters<typeof schedules.next>): Promise<string[]> =>
        (await schedules.next(...args)).times,
      /** The same for a cron expression that no schedule has yet. */
      preview: async (...args: Parameters<typeof schedules.preview>): Promise<string[]> =>
        (await schedules.preview(...args)).times,
    },
    /** Workflows that check something periodically, and start another workflow when it has changed. */
    heartbeats: {
      ...heartbeats,
      /** Newest first. */
      list: async (): Promise<protocol.Heartbeat[]> => (await heartbeats.list()).heartbeats,
    },
    webhooks: {
      ...webhooks,
      list: async (): Promise<protocol.WebhookSubscription[]> => (await webhooks.list()).webhooks,
      /** The secret is shown only once: a repeat of a request whose answer was lost is refused with that reason. */
      register: webhooks.create,
      unregister: webhooks.remove,
      /** A new secret, shown once; the old one signs too until `previousSecretUntil`. After a lost answer, rotate again. */
      rotateSecret: webhooks['rotate-secret'],
      /** The same event again, as a new delivery. */
      resend(webhookId: string, deliveryId: string): Promise<protocol.WebhookDelivery> {
        const [webhook, delivery] = [webhookId, deliveryId].map(encodeURIComponent);
        return send(`/v1/host/gantry/webhooks/${webhook}/deliveries/${delivery}:resend`, {});
      },
    },
    triggers: triggers(triggerSubscriptions, calls),
    /** Runs and events that failed permanently. A retry forks a run, or delivers an event again. */
    deadLetters: {
      ...deadLetters,
      /** Removes it from the list. */
      acknowledge: deadLetters.remove,
    },
    /** Values can be written, never read. */
    credentials: {
      ...of.credentials,
      /** One step to a new root key of the database; `after` is `next` of the step before. */
      rekey: (after?: string): Promise<protocol.RekeyStep> =>
        send('/v1/host/gantry/rekey', after === undefined ? {} : { after }),
    },
    /** External services that people connected by OAuth, and the clients of this host at their providers. */
    connections: {
      ...connections,
      /** Returns the page that a person has to open, or the connection if none is needed. */
      connect: connections.create,
      /** Deletes its tokens, and revokes them at the provider if possible. */
      disconnect: connections.remove,
      clients: async (): Promise<protocol.OAuthClient[]> => (await oauthClients.list()).clients,
      /** Replaces the earlier configuration of the same provider. */
      configure: oauthClients.create,
      unconfigure: oauthClients.remove,
    },
  };
}

/** Subscriptions that start runs from external events, or from the messages of a topic. */
function triggers(api: Apis['triggerSubscriptions'], { read, send }: Calls) {
  const { url } = tables.triggerSubscriptions;
  return {
    ...api,
    list: async (): Promise<protocol.TriggerSubscription[]> => (await api.list()).subscriptions,
    /** The list with the workflows that they start and the sources that they listen to. */
    describe: async (): Promise<Described[]> =>
      (await read<{ subscriptions: Described[] }>('/v1/host/gantry/trigger-subscriptions')).subscriptions,
    /** The secret is shown only once: a repeat of a request whose answer was lost is refused with that reason. */
    register: (request: EventRegistration): Promise<protocol.TriggerSubscriptionCreated> =>
      send(url, request),
    /** Every message of the topic starts one run. No requests are sent to it, so it has no secret. */
    registerQueue: (request: QueueRegistration): Promise<protocol.QueueSubscriptionCreated> =>
      send(url, { source: 'queue', ...request }),
    /** A new secret, shown once; the old one stops working. */
    rotateSecret: api['rotate-secret'],
    unregister: api.remove,
  };
}
