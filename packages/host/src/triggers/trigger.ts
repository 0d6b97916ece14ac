/** Trigger subscriptions as a resource. The secret is in the record only as sealed text. */
import {
  DEFAULT_SCHEME,
  type InputMapping,
  OpenwopError,
  type RunOwner,
  runOwnerOf,
  type SignatureScheme,
  TRIGGER_LIMITS,
  type TriggerPurpose,
  type TriggerReason,
  type TriggerSource,
  type TriggerState,
  type TriggerSubscription,
  type TriggerSubscriptionRegistration,
  triggerSubscriptionsWire,
  type VERIFICATION_MODES,
} from '@gantry/protocol';
import { listRecords, readRecord, resource, type Secret, type Stored } from '@gantry/resources';
import type { EntryKey, EntryReads, Write } from '@gantry/store';
import type { ConsumerGroup } from '@gantry/surfaces';
import type { Admitting } from '../workflows/admission.ts';
import { SHARED } from '../workflows/shared.ts';
import { deliveries, deliveryView } from './delivery.ts';
import { type RetryPolicy, retryPolicyOf } from './retry.ts';

/** Finds the tenant of an id: events arrive without one. */
export const TRIGGER_ADDRESS = 'trigger-address';
/** Finds the subscriptions that listen to a topic. */
export const TRIGGER_LISTENER = 'trigger-listener';
const CHANGES_KEPT = 20;
const DELIVERIES_LISTED = 50;
/** A subscription fails after so many consecutive deliveries that used up their attempts. */
const EXHAUSTED_MAX = 5;

export interface StateChange {
  readonly at: number;
  readonly fromState: TriggerState;
  readonly toState: TriggerState;
  readonly reason?: TriggerReason;
}

/** What asked for it: a principal over the API, or a trigger of a workflow definition. */
export type Origin =
  | { readonly kind: 'api'; readonly principal: string }
  | { readonly kind: 'trigger'; readonly triggerId: string };

/** Runs of a definition's own trigger belong to the tenant. */
export const runOwner = (
  { tenant, workspace }: { readonly tenant: string; readonly workspace: string },
  origin: Origin,
): RunOwner => runOwnerOf({ tenant, workspace, principal: origin.kind === 'api' ? origin.principal : null });

interface WantedOfAny {
  readonly workflowId: string;
  readonly dedupEnabled: boolean;
  readonly retryPolicy: RetryPolicy;
  readonly verification: (typeof VERIFICATION_MODES)[number];
  readonly inputMapping: InputMapping;
  readonly origin: Origin;
}

export interface WantedIngest extends WantedOfAny {
  readonly source: TriggerSource;
  /** How senders sign. */
  readonly scheme: SignatureScheme;
}

/** The queue itself recognises repeated messages, and only packs of the tenant publish: nothing to verify. */
export interface WantedQueue extends WantedOfAny {
  readonly source: 'queue';
  readonly topic: string;
  /** Null for a group of its own. */
  readonly consumerGroup: string | null;
}

/** What was asked for. */
export type Wanted = WantedIngest | WantedQueue;

type Asked = Pick<
  TriggerSubscriptionRegistration,
  'dedupEnabled' | 'retryPolicy' | 'verification' | 'inputMapping'
>;

export const ingestWanted = (
  of: Pick<WantedIngest, 'source' | 'workflowId' | 'origin'>,
  { dedupEnabled = true, retryPolicy, verification, inputMapping = {} }: Asked,
): WantedIngest => ({
  ...of,
  dedupEnabled,
  inputMapping,
  retryPolicy: retryPolicyOf(retryPolicy),
  verification: verification?.mode ?? 'required',
  scheme: verification?.scheme ?? DEFAULT_SCHEME,
});

export interface TriggerSecret {
  readonly secret: Secret;
  readonly secretFingerprint: string;
}

/** A queue has a secret too, which is never shown: nothing is sent to it. */
interface Course extends TriggerSecret {
  readonly state: TriggerState;
  /** Deliveries in a row whose attempts were used up. */
  readonly exhaustedInARow: number;
  /** The latest ones, oldest first. */
  readonly changes: readonly StateChange[];
}

export type TriggerRecord = Wanted & Course;
export type Trigger = Stored<TriggerRecord>;
export type IngestTrigger = Trigger & { readonly record: WantedIngest };
export type QueueTrigger = Trigger & { readonly record: WantedQueue };

export interface TriggerReads {
  readonly entries: EntryReads;
  /** Rejects while queues cannot be used. */
  readonly queueHealth: () => Promise<void>;
  readonly workflows: Admitting;
}

export const triggers = resource<typeof triggerSubscriptionsWire, TriggerRecord, TriggerRecord, TriggerReads>(
  triggerSubscriptionsWire,
  {
    kind: 'trigger',
    idPrefix: 'sub',
    max: TRIGGER_LIMITS.perTenantMax,
    secret: ['secret'],
    ref: ({ workflowId }) => workflowId,
    create: (_, record) => record,
    verbs: {
      pause: (trigger, _, { now }) => inState(mustGoOn(trigger), 'paused', now, 'operator-paused'),
      /** Also gives one that failed another chance. */
      resume: (trigger, _, { now }) => ({ ...inState(mustGoOn(trigger), 'active', now), exhaustedInARow: 0 }),
    },
    reads: {
      async deliveries(_, { cursor, limit = DELIVERIES_LISTED }, { stored, services }) {
        const filter = {
          ref: stored.id,
          limit: limit + 1,
          ...(cursor !== undefined && { beforeId: cursor }),
        };
        const found = await listRecords(services.entries, deliveries, stored.tenant, filter);
        const page = found.slice(0, limit).map(deliveryView);
        return {
          ...purposeOf(stored),
          deliveries: page,
          ...(found.length > limit && { nextCursor: page.at(-1)!.deliveryId }),
          stateChanges: stored.record.changes
            .map(({ at, ...change }) => ({ at: new Date(at).toISOString(), ...change }))
            .reverse(),
          ...(await problemOf(stored, services)),
        };
      },
    },
    /** Deliveries that still wait for it become dead letters. */
    remove({ origin }, trigger, change) {
      if (origin.kind === 'trigger')
        throw conflict(
          `Trigger ${origin.triggerId} of the workflow defines this subscription. Pause it, or disable the trigger.`,
        );
      change.add(finderRemoval(trigger));
    },
    show: viewOf,
  },
);

export const conflict = (message: string): OpenwopError => new OpenwopError('conflict', { message });

function mustGoOn(trigger: TriggerRecord): TriggerRecord {
  if (trigger.state === 'dead-lettered') throw conflict('The subscription has ended. Register a new one.');
  return trigger;
}

/** The subscription in another state, with the change on record. */
function inState(
  trigger: TriggerRecord,
  toState: TriggerState,
  at: number,
  reason?: TriggerReason,
): TriggerRecord {
  const { state: fromState, changes } = trigger;
  if (fromState === toState) return trigger;
  const change: StateChange = { at, fromState, toState, ...(reason && { reason }) };
  return { ...trigger, state: toState, changes: [...changes, change].slice(-CHANGES_KEPT) };
}

export type Transition = (trigger: TriggerRecord, now: number) => TriggerRecord;

/** A delivery became a run. */
export const recovered: Transition = (trigger) =>
  trigger.exhaustedInARow === 0 ? trigger : { ...trigger, exhaustedInARow: 0 };

/** A delivery used up its attempts. */
export const exhausted: Transition = (trigger, now) => {
  const counted = { ...trigger, exhaustedInARow: trigger.exhaustedInARow + 1 };
  return counted.exhaustedInARow < EXHAUSTED_MAX
    ? counted
    : inState(counted, 'failed', now, 'retry-exhausted');
};

/** Its workflow is gone. */
export const ended: Transition = (trigger, now) => inState(trigger, 'dead-lettered', now, 'source-removed');

export const newTrigger = (wanted: Wanted, secret: TriggerSecret): TriggerRecord => ({
  ...wanted,
  ...secret,
  state: 'active',
  exhaustedInARow: 0,
  changes: [],
});

export const readTrigger = (
  entries: Pick<EntryReads, 'get'>,
  tenant: string,
  id: string,
): Promise<Trigger | null> => readRecord(entries, triggers, tenant, id);

const addressKey = (id: string): EntryKey => ({ kind: TRIGGER_ADDRESS, tenant: SHARED, id });

/** Host-wide: the sender of an event knows the id alone. */
export async function findTrigger(
  entries: Pick<EntryReads, 'get'>,
  id: string,
): Promise<IngestTrigger | null> {
  const address = await entries.get(addressKey(id));
  const found = address?.ref ? await readTrigger(entries, address.ref, id) : null;
  return found && isIngest(found) ? found : null;
}

const isIngest = (trigger: Trigger): trigger is IngestTrigger => trigger.record.source !== 'queue';
export const isQueue = (trigger: Trigger): trigger is QueueTrigger => trigger.record.source === 'queue';

/** The entry by which senders or queues find it. It never changes, so its version is 1. */
const finderKey = ({ tenant, id, record }: Trigger): EntryKey =>
  record.source === 'queue' ? { kind: TRIGGER_LISTENER, tenant, id } : addressKey(id);

export const finderWrite = (trigger: Trigger): Write => {
  const { tenant, createdAt } = trigger;
  const entry = { ref: tenant, dueAt: null, expiresAt: null, body: '{}', createdAt };
  return { kind: 'putEntry', entry: { ...finderKey(trigger), ...entry }, expectedVersion: null };
};

export const finderRemoval = (trigger: Trigger): Write => ({
  kind: 'deleteEntry',
  key: finderKey(trigger),
  expectedVersion: 1,
});

/** Its topic and consumer group. A group of its own gets every message of the topic. */
export const consumersOf = ({ id, record: { topic, consumerGroup } }: QueueTrigger): ConsumerGroup => ({
  topic,
  group: consumerGroup ?? id,
});

export function listeningOf(trigger: QueueTrigger) {
  const { topic, group } = consumersOf(trigger);
  return { topic, consumerGroup: group };
}

export const purposeOf = (trigger: Trigger): TriggerPurpose => ({
  workflowId: trigger.record.workflowId,
  ...(isQueue(trigger) && listeningOf(trigger)),
});

/** The protocol allows no further members. */
export function viewOf({ id, record }: Trigger): TriggerSubscription {
  const { source, state, dedupEnabled, retryPolicy, secretFingerprint } = record;
  return {
    subscriptionId: id,
    source,
    state,
    dedupEnabled,
    retryPolicy: { ...retryPolicy },
    ...(source !== 'queue' && { secretFingerprint }),
  };
}

/** Why an active subscription starts no runs. */
export async function problemOf(
  trigger: Trigger,
  { queueHealth, workflows }: Pick<TriggerReads, 'queueHealth' | 'workflows'>,
): Promise<{ problem?: string }> {
  const { source, state, workflowId, origin } = trigger.record;
  if (state !== 'active') return {};
  try {
    const workflow = await workflows.resolve(trigger.tenant, workflowId);
    if (workflow) await workflows.checkActing(runOwner(trigger, origin), workflow.record);
    if (source === 'queue') await queueHealth();
    return {};
  } catch (error) {
    return { problem: error instanceof OpenwopError ? error.message : 'The queue is not responding.' };
  }
}
