/** Which groups win, decided on what is stored about the keys they touch. No I/O. */
import type { CommitGroup, CommitResult, EntryKey, Write } from '../port.ts';

export interface RunState {
  readonly tenant: string;
  readonly nextSeq: number;
  readonly owner: number | null;
}

/**
 * By run id, by `idempotencyKey` (when it expires), by `invocationKey`, by `entryKey` (its version, null when
 * deleted). Updated while groups are decided.
 */
export interface Known {
  readonly runs: Map<string, RunState>;
  readonly idempotency: Map<string, number>;
  readonly invocations: Map<string, 'claimed' | 'settled'>;
  readonly entries: Map<string, number | null>;
}

export const idempotencyKey = (record: { tenant: string; operation: string; key: string }): string =>
  JSON.stringify([record.tenant, record.operation, record.key]);
export const invocationKey = (record: { tenant: string; invocationId: string }): string =>
  JSON.stringify([record.tenant, record.invocationId]);
export const entryKey = ({ kind, tenant, id }: EntryKey): string => JSON.stringify([kind, tenant, id]);

export const nextVersion = (expectedVersion: number | null): number => (expectedVersion ?? 0) + 1;

export interface Decision {
  readonly results: CommitResult[];
  /** The writes of the winning groups, in order. */
  readonly won: Write[];
}

export function decide(groups: readonly CommitGroup[], known: Known): Decision {
  const results = groups.map((group) => decideGroup(group, known));
  return { results, won: groups.filter((_, i) => results[i]?.won).flat() };
}

/** Later writes of a group see its earlier ones; a losing group takes its changes back (I1). */
function decideGroup(group: CommitGroup, known: Known): CommitResult {
  const undo: (() => void)[] = [];
  const set = <T>(map: Map<string, T>, key: string, value: T): void => {
    const before = map.get(key);
    undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
    map.set(key, value);
  };
  for (const [index, write] of group.entries()) {
    const reason = decideWrite(write, known, set);
    if (reason === null) continue;
    for (const takeBack of undo.reverse()) takeBack();
    return { won: false, write: index, reason };
  }
  return { won: true };
}

type Set = <T>(map: Map<string, T>, key: string, value: T) => void;

function decideWrite(write: Write, known: Known, set: Set): 'stale' | 'exists' | null {
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
      set(known.invocations, key, write.record.outcome === null ? 'claimed' : 'settled');
      return null;
    }
    case 'settleInvocation': {
      const key = invocationKey(write);
      if (known.invocations.get(key) !== 'claimed') return 'stale';
      set(known.invocations, key, 'settled');
      return null;
    }
    case 'putEntry': {
      const key = entryKey(write.entry);
      const { expectedVersion } = write;
      if ((known.entries.get(key) ?? null) !== expectedVersion)
        return expectedVersion === null ? 'exists' : 'stale';
      set(known.entries, key, nextVersion(expectedVersion));
      return null;
    }
    case 'deleteEntry': {
      const key = entryKey(write.key);
      if (known.entries.get(key) !== write.expectedVersion) return 'stale';
      set(known.entries, key, null);
      return null;
    }
    default:
      return null;
  }
}
