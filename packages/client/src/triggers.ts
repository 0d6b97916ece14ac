import type {
  QueueSubscriptionCreated,
  TriggerBinding,
  TriggerDelivery,
  TriggerPurpose,
  TriggerReason,
  TriggerState,
  TriggerSubscription,
  TriggerSubscriptionCreated,
  TriggerSubscriptionRegistration,
} from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface TriggerStateChange {
  at: string;
  fromState: TriggerState;
  toState: TriggerState;
  reason?: TriggerReason;
}

export interface TriggerDeliveryPage extends TriggerPurpose {
  deliveries: TriggerDelivery[];
  stateChanges: TriggerStateChange[];
  /** Pass as `cursor` to get the next, older page. */
  nextCursor?: string;
  /** Why no messages arrive for now, of a subscription to a queue. It goes by itself. */
  problem?: string;
}

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
export interface Triggers {
  list(): Promise<TriggerSubscription[]>;
  /** The same with what they start and what they listen to. */
  describe(): Promise<(TriggerSubscription & TriggerPurpose)[]>;
  get(subscriptionId: string): Promise<TriggerSubscription>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register(request: EventRegistration): Promise<TriggerSubscriptionCreated>;
  /** Every message of the topic starts one run. Nothing is sent to it, so it has no secret. */
  registerQueue(request: QueueRegistration): Promise<QueueSubscriptionCreated>;
  /** A new secret, shown once; the old one stops working. */
  rotateSecret(subscriptionId: string): Promise<TriggerBinding>;
  unregister(subscriptionId: string): Promise<void>;
  pause(subscriptionId: string): Promise<TriggerSubscription>;
  resume(subscriptionId: string): Promise<TriggerSubscription>;
  /** What became of its events, newest first. */
  deliveries(
    subscriptionId: string,
    page?: { cursor?: string; limit?: number },
  ): Promise<TriggerDeliveryPage>;
}

const TRIGGERS = '/v1/trigger-subscriptions';
const HOST_TRIGGERS = '/v1/host/gantry/trigger-subscriptions';

export function createTriggers(transport: Transport): Triggers {
  const { read, send, remove } = createCalls(transport);
  const triggerPath = (subscriptionId: string) => `${TRIGGERS}/${encodeURIComponent(subscriptionId)}`;
  const hostPath = (subscriptionId: string) => `${HOST_TRIGGERS}/${encodeURIComponent(subscriptionId)}`;
  return {
    list: async () => (await read<{ subscriptions: TriggerSubscription[] }>(TRIGGERS)).subscriptions,
    describe: async () =>
      (await read<{ subscriptions: (TriggerSubscription & TriggerPurpose)[] }>(HOST_TRIGGERS)).subscriptions,
    get: (subscriptionId) => read(triggerPath(subscriptionId)),
    register: (request) => send(TRIGGERS, request),
    registerQueue: (request) => send(TRIGGERS, { source: 'queue', ...request }),
    rotateSecret: (subscriptionId) => send(`${hostPath(subscriptionId)}:rotate-secret`, {}),
    async unregister(subscriptionId) {
      await remove(triggerPath(subscriptionId));
    },
    pause: (subscriptionId) => send(`${hostPath(subscriptionId)}:pause`, {}),
    resume: (subscriptionId) => send(`${hostPath(subscriptionId)}:resume`, {}),
    deliveries: (subscriptionId, page = {}) => read(`${hostPath(subscriptionId)}/deliveries`, { ...page }),
  };
}
