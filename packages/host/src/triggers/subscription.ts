/** A trigger subscription as an entry of the store. */
import type {
  InputMapping,
  SignatureScheme,
  TriggerReason,
  TriggerSource,
  TriggerState,
  TriggerSubscription,
  VERIFICATION_MODES,
} from '@gantry/protocol';
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import { SHARED } from '../workflows/workflows.ts';
import type { RetryPolicy } from './retry.ts';

export const TRIGGER = 'trigger';
/** Finds the tenant of an id: events arrive without one. */
const TRIGGER_ADDRESS = 'trigger-address';
/** Finds the subscriptions that listen to a topic. */
export const TRIGGER_LISTENER = 'trigger-listener';
const CHANGES_KEPT = 20;

export interface TriggerKey {
  readonly tenant: string;
  readonly subscriptionId: string;
}

type Verification = (typeof VERIFICATION_MODES)[number];

export interface StateChange {
  readonly at: number;
  readonly fromState: TriggerState;
  readonly toState: TriggerState;
  readonly reason?: TriggerReason;
}

/** Who asked for it: a key over the API, or a trigger of a workflow definition. */
export type Origin =
  | { readonly kind: 'api'; readonly keyId: string }
  | { readonly kind: 'trigger'; readonly triggerId: string };

interface WantedOfAny {
  readonly workflowId: string;
  readonly dedupEnabled: boolean;
  readonly retryPolicy: RetryPolicy;
  readonly verification: Verification;
  readonly inputMapping: InputMapping;
  readonly origin: Origin;
}

export interface WantedIngest extends WantedOfAny {
  readonly source: TriggerSource;
  /** How senders sign. Subscriptions made before it could be chosen have none: the default. */
  readonly scheme?: SignatureScheme;
}

/** The queue itself tells messages apart, and only packs of the tenant publish: nothing to verify. */
export interface WantedQueue extends WantedOfAny {
  readonly source: 'queue';
  readonly topic: string;
  /** Null for a group of its own. */
  readonly consumerGroup: string | null;
}

/** What was asked for. */
export type Wanted = WantedIngest | WantedQueue;

/** The secret is in the body only as sealed text. Nobody is told that of a queue: nothing is sent to it. */
interface Course {
  readonly secretSealed: string;
  readonly secretFingerprint: string;
  readonly state: TriggerState;
  /** Deliveries in a row whose attempts were used up. */
  readonly exhaustedInARow: number;
  /** The latest ones, oldest first. */
  readonly changes: readonly StateChange[];
}

interface Kept extends TriggerKey {
  readonly createdAt: number;
  readonly version: number;
}

export type Subscription = Kept & Course & Wanted;
export type IngestSubscription = Kept & Course & WantedIngest;
export type QueueSubscription = Kept & Course & WantedQueue;

const triggerEntryKey = ({ tenant, subscriptionId }: TriggerKey): EntryKey => ({
  kind: TRIGGER,
  tenant,
  id: subscriptionId,
});

const addressKey = (subscriptionId: string): EntryKey => ({
  kind: TRIGGER_ADDRESS,
  tenant: SHARED,
  id: subscriptionId,
});

/** What the secret is sealed for: it opens nowhere else. */
export const secretContext = ({ tenant, subscriptionId }: TriggerKey): string =>
  `${TRIGGER}/${tenant}/${subscriptionId}`;

export function toSubscription({ tenant, id, createdAt, version, body }: Entry): Subscription {
  const parsed: Course & Wanted = JSON.parse(body);
  return { ...parsed, tenant, subscriptionId: id, createdAt, version };
}

export async function readSubscription(
  entries: Pick<Store['entries'], 'get'>,
  key: TriggerKey,
): Promise<Subscription | null> {
  const entry = await entries.get(triggerEntryKey(key));
  return entry && toSubscription(entry);
}

/** Host-wide: who sends an event knows the id alone. */
export async function findSubscription(
  entries: Pick<Store['entries'], 'get'>,
  subscriptionId: string,
): Promise<IngestSubscription | null> {
  const address = await entries.get(addressKey(subscriptionId));
  const found = address?.ref && (await readSubscription(entries, { tenant: address.ref, subscriptionId }));
  return found && found.source !== 'queue' ? found : null;
}

/** A change of the version that was read. */
export const subscriptionWrite = (subscription: Subscription): Write =>
  put(subscription, subscription.version);

/** What finds it for whoever brings its events. Never changed, so its version is the first. */
const finderKey = ({ source, tenant, subscriptionId }: Subscription): EntryKey =>
  source === 'queue' ? { kind: TRIGGER_LISTENER, tenant, id: subscriptionId } : addressKey(subscriptionId);

/** A new one, and what finds it. */
export const creationWrites = (subscription: Subscription): Write[] => [
  put(subscription, null),
  {
    kind: 'putEntry',
    entry: {
      ...finderKey(subscription),
      ref: subscription.tenant,
      dueAt: null,
      expiresAt: null,
      body: '{}',
      createdAt: subscription.createdAt,
    },
    expectedVersion: null,
  },
];

export const removalWrites = (subscription: Subscription): Write[] => [
  { kind: 'deleteEntry', key: triggerEntryKey(subscription), expectedVersion: subscription.version },
  { kind: 'deleteEntry', key: finderKey(subscription), expectedVersion: 1 },
];

function put(subscription: Subscription, expectedVersion: number | null): Write {
  const { tenant, subscriptionId, createdAt, version: _version, ...body } = subscription;
  return {
    kind: 'putEntry',
    entry: {
      ...triggerEntryKey({ tenant, subscriptionId }),
      ref: body.workflowId,
      dueAt: null,
      expiresAt: null,
      createdAt,
      body: JSON.stringify(body),
    },
    expectedVersion,
  };
}

/** The subscription in another state, with the change on record. */
export function inState(
  subscription: Subscription,
  toState: TriggerState,
  at: number,
  reason?: TriggerReason,
): Subscription {
  const { state: fromState, changes } = subscription;
  if (fromState === toState) return subscription;
  const change: StateChange = { at, fromState, toState, ...(reason && { reason }) };
  return { ...subscription, state: toState, changes: [...changes, change].slice(-CHANGES_KEPT) };
}

/** Closed, as the protocol has it. */
export function subscriptionView(subscription: Subscription): TriggerSubscription {
  const { subscriptionId, source, state, dedupEnabled, retryPolicy, secretFingerprint } = subscription;
  return {
    subscriptionId,
    source,
    state,
    dedupEnabled,
    retryPolicy: { ...retryPolicy },
    ...(source !== 'queue' && { secretFingerprint }),
  };
}
