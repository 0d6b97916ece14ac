/** Decides which groups win, from the stored state of the keys they touch. No I/O. */
import { adjusted, entryKey, versionAfter } from '../entry.ts';
import type {
  CommitGroup,
  CommitResult,
  EntryKey,
  InvocationRecord,
  LossReason,
  NewEntry,
  Write,
} from '../port.ts';

export interface RunState {
  readonly tenant: string;
  readonly nextSeq: number;
  readonly owner: number | null;
}

/** The stored state of the keys of a batch. Updated while groups are decided. */
export interface Known {
  /** By run id. */
  readonly runs: Map<string, RunState>;
  /** The expiry time, by `idempotencyKey`. */
  readonly idempotency: Map<string, number>;
  readonly invocations: Map<string, InvocationState>;
  /** By `entryKey`; null when deleted. */
  readonly entries: Map<string, EntryState | null>;
  /** The number of entries, by `countKey`, where a write has a limit. */
  readonly counts: Map<string, number>;
  /** The `entryKey` that has a unique index value, by `uniqueKey`; null once released. */
  readonly uniques: Map<string, string | null>;
  readonly counters: Map<string, number>;
  /** The end time, by epoch. */
  readonly leases: ReadonlyMap<number, number>;
}

/** `pending`: settled, but its events are not in the log of the run yet. */
export type InvocationState = 'claimed' | 'pending' | 'settled';

export interface EntryState {
  readonly version: number;
  readonly workspace: string | null;
}

export const idempotencyKey = (record: { tenant: string; operation: string; key: string }): string =>
  JSON.stringify([record.tenant, record.operation, record.key]);
export const invocationKey = (record: { tenant: string; invocationId: string }): string =>
  JSON.stringify([record.tenant, record.invocationId]);
export const countKey = ({ kind, tenant }: Pick<EntryKey, 'kind' | 'tenant'>): string =>
  JSON.stringify([kind, tenant]);

/** The unique index values of an entry. */
export const uniquesOf = ({ kind, tenant, index = [] }: NewEntry) =>
  index.flatMap(({ name, value, unique }) => (unique ? [{ kind, tenant, name, value }] : []));
export const uniqueKey = (of: ReturnType<typeof uniquesOf>[number]): string =>
  JSON.stringify([of.kind, of.tenant, of.name, of.value]);

type Put = Extract<Write, { kind: 'putEntry' }>;

export interface Decision {
  readonly results: CommitResult[];
  /** The writes of the winning groups, in order. */
  readonly won: Write[];
}

export function decide(groups: readonly CommitGroup[], known: Known): Decision {
  const results = groups.map((group) => decideGroup(group, known));
  return { results, won: groups.filter((_, i) => results[i]?.won).flat() };
}

/** Later writes of a group see its earlier ones. The changes of a losing group are undone (I1). */
function decideGroup(group: CommitGroup, known: Known): CommitResult {
  const undo: (() => void)[] = [];
  const set = <T>(map: Map<string, T>, key: string, value: T): void => {
    const before = map.get(key);
    undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
    map.set(key, value);
  };
  const values: number[] = [];
  for (const [index, write] of group.entries()) {
    const reason = decideWrite(write, known, set);
    if (write.kind === 'adjust') values.push(known.counters.get(entryKey(write.key)) ?? 0);
    if (reason === null) continue;
    for (const takeBack of undo.reverse()) takeBack();
    return { won: false, write: index, reason };
  }
  return values.length > 0 ? { won: true, values } : { won: true };
}

type Set = <T>(map: Map<string, T>, key: string, value: T) => void;

function decideWrite(write: Write, known: Known, set: Set): LossReason | null {
  switch (write.kind) {
    case 'createRun': {
      const { runId, tenant } = write.facts;
      if (known.runs.has(runId)) return 'exists';
      set(known.runs, runId, { tenant, nextSeq: write.events.length, owner: write.head.owner });
      return null;
    }
    case 'append': {
      const { tenant, runId, expectedSeq, expectedOwner, events, head } = write;
      const run = known.runs.get(runId);
      if (!run || run.tenant !== tenant) return 'stale';
      if (run.nextSeq !== expectedSeq || run.owner !== expectedOwner) return 'stale';
      set(known.runs, runId, { tenant, nextSeq: expectedSeq + events.length, owner: head.owner });
      return null;
    }
    case 'idempotency': {
      const key = idempotencyKey(write.record);
      if ((known.idempotency.get(key) ?? Number.NEGATIVE_INFINITY) > write.now) return 'exists';
      set(known.idempotency, key, write.record.expiresAt);
      return null;
    }
    case 'claimInvocation': {
      const key = invocationKey(write.record);
      if (known.invocations.has(key)) return 'exists';
      set(known.invocations, key, stateOf(write.record));
      return null;
    }
    case 'settleInvocation': {
      const key = invocationKey(write);
      if (known.invocations.get(key) !== 'claimed') return 'stale';
      set(known.invocations, key, write.eventsPending ? 'pending' : 'settled');
      return null;
    }
    case 'tellInvocation': {
      const key = invocationKey(write);
      if (known.invocations.get(key) !== 'pending') return 'stale';
      set(known.invocations, key, 'settled');
      return null;
    }
    case 'putEntry':
      return decidePut(write, known, set);
    case 'deleteEntry': {
      if (versionOf(write.key, known) !== write.expectedVersion) return 'stale';
      release(write.key, known, set);
      set(known.entries, entryKey(write.key), null);
      count(write.key, known, set, -1);
      return null;
    }
    case 'expectEntry':
      return versionOf(write.key, known) === write.version ? null : 'stale';
    case 'expectLease':
      return (known.leases.get(write.epoch) ?? 0) > write.now ? null : 'stale';
    case 'adjust': {
      const key = entryKey(write.key);
      const value = adjusted(known.counters.get(key) ?? 0, write);
      if (value === 'full') return 'full';
      set(known.counters, key, value);
      return null;
    }
    default:
      return null;
  }
}

function stateOf({ outcome, eventsPending }: InvocationRecord): InvocationState {
  if (outcome === null) return 'claimed';
  return eventsPending ? 'pending' : 'settled';
}

const versionOf = (key: EntryKey, known: Known): number | null =>
  known.entries.get(entryKey(key))?.version ?? null;

function decidePut(write: Put, known: Known, set: Set): LossReason | null {
  const { entry, expectedVersion, max = Number.POSITIVE_INFINITY } = write;
  const isNew = expectedVersion === null;
  if (versionOf(entry, known) !== expectedVersion) return isNew ? 'exists' : 'stale';
  if (isNew && (known.counts.get(countKey(entry)) ?? 0) >= max) return 'full';
  const key = entryKey(entry);
  release(entry, known, set);
  for (const unique of uniquesOf(entry)) {
    if (known.uniques.get(uniqueKey(unique))) return 'exists';
    set(known.uniques, uniqueKey(unique), key);
  }
  set(known.entries, key, { version: versionAfter(write), workspace: entry.workspace ?? null });
  if (isNew) count(entry, known, set, 1);
  return null;
}

/** Releases the unique values of an entry. */
function release(key: EntryKey, { uniques }: Known, set: Set): void {
  for (const [unique, holder] of uniques) if (holder === entryKey(key)) set(uniques, unique, null);
}

function count(key: EntryKey, { counts }: Known, set: Set, delta: number): void {
  const before = counts.get(countKey(key));
  if (before !== undefined) set(counts, countKey(key), before + delta);
}
