import type {
  QueueSubscriptionCreated,
  TriggerPurpose,
  TriggerSubscription,
  TriggerSubscriptionCreated,
  TriggerSubscriptionRegistration,
  triggerSubscriptionsWire,
} from '@gantry/protocol';
import { TRIGGER_SUBSCRIPTIONS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

type Wire = typeof triggerSubscriptionsWire;
type All = ResourceApi<Wire>;

export type TriggerDeliveryPage = Awaited<ReturnType<All['deliveries']>>;
export type TriggerStateChange = TriggerDeliveryPage['stateChanges'][number];

/** Of a subscription that events are sent to. */
export type EventRegistration = Omit<
  TriggerSubscriptionRegistration,
  'source' | 'topic' | 'consumerGroup'
> & { source: Exclude<TriggerSubscriptionRegistration['source'], 'queue'> };

/** Of a subscription that listens to a topic. */
export type QueueRegistration = Pick<
  TriggerSubscriptionRegistration,
  'workflowId' | 'consumerGroup' | 'retryPolicy' | 'inputMapping'
> & { topic: string };

/** Subscriptions that start runs from events of the outside world, or from the messages of a topic. */
export interface Triggers extends Pick<All, 'get' | 'pause' | 'resume' | 'deliveries'> {
  list(): Promise<TriggerSubscription[]>;
  /** The same with what they start and what they listen to. */
  describe(): Promise<(TriggerSubscription & TriggerPurpose)[]>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register(request: EventRegistration): Promise<TriggerSubscriptionCreated>;
  /** Every message of the topic starts one run. Nothing is sent to it, so it has no secret. */
  registerQueue(request: QueueRegistration): Promise<QueueSubscriptionCreated>;
  /** A new secret, shown once; the old one stops working. */
  rotateSecret: All['rotate-secret'];
  unregister(subscriptionId: string): Promise<void>;
}

export function createTriggers(transport: Transport): Triggers {
  const { list, get, remove, pause, resume, deliveries, ...all } = api<Wire>(
    transport,
    TRIGGER_SUBSCRIPTIONS,
  );
  const { read, send } = createCalls(transport);
  const { path, url } = TRIGGER_SUBSCRIPTIONS;
  return {
    get,
    pause,
    resume,
    deliveries,
    rotateSecret: all['rotate-secret'],
    list: async () => (await list()).subscriptions,
    describe: async () =>
      (await read<{ subscriptions: (TriggerSubscription & TriggerPurpose)[] }>(`/v1/host/gantry/${path}`))
        .subscriptions,
    register: (request) => send(url, request),
    registerQueue: (request) => send(url, { source: 'queue', ...request }),
    async unregister(subscriptionId) {
      await remove(subscriptionId);
    },
  };
}
