/** The port in its simplest form: one object, copied for each group and kept if the group wins. */
import type { StoredEvent } from '@gantry/protocol';
import { storedEntry } from '../entry.ts';
import type {
  CommitGroup,
  CommitResult,
  Entry,
  IdempotencyRecord,
  InvocationRecord,
  LossReason,
  RunRow,
  RunSnapshotRecord,
  Write,
} from '../port.ts';

interface ModelRun {
  row: RunRow;
  events: StoredEvent[];
  snapshot: RunSnapshotRecord | null;
}

export interface Model {
  runs: Record<string, ModelRun>;
  idempotency: Record<string, IdempotencyRecord>;
  invocations: Record<string, InvocationRecord>;
  entries: Record<string, Entry>;
  counters: Record<string, number>;
}

export const emptyModel = (): Model => ({
  runs: {},
  idempotency: {},
  invocations: {},
  entries: {},
  counters: {},
});

export function commitToModel(model: Model, group: CommitGroup): { model: Model; result: CommitResult } {
  const next = structuredClone(model);
  const values: number[] = [];
  for (const [write, each] of group.entries()) {
    const reason = applyToModel(next, each);
    if (each.kind === 'adjust') values.push(next.counters[each.key.id] ?? 0);
    if (reason) return { model, result: { won: false, write, reason } };
  }
  return { model: next, result: values.length > 0 ? { won: true, values } : { won: true } };
}

function applyToModel(model: Model, write: Write): LossReason | null {
  switch (write.kind) {
    case 'createRun': {
      if (model.runs[write.facts.runId]) return 'exists';
      const row = { ...write.facts, ...write.head, nextSeq: write.events.length };
      model.runs[write.facts.runId] = { row, events: [...write.events], snapshot: null };
      return null;
    }
    case 'append': {
      const run = model.runs[write.runId];
      if (run?.row.tenant !== write.tenant || run.row.nextSeq !== write.expectedSeq) return 'stale';
      if (run.row.owner !== write.expectedOwner) return 'stale';
      run.events.push(...write.events);
      run.row = { ...run.row, ...write.head, nextSeq: run.events.length };
      run.snapshot = write.snapshot ?? run.snapshot;
      return null;
    }
    case 'idempotency': {
      const earlier = model.idempotency[write.record.key];
      if (earlier && earlier.expiresAt > write.now) return 'exists';
      model.idempotency[write.record.key] = write.record;
      return null;
    }
    case 'claimInvocation': {
      if (model.invocations[write.record.invocationId]) return 'exists';
      model.invocations[write.record.invocationId] = write.record;
      return null;
    }
    case 'settleInvocation': {
      const invocation = model.invocations[write.invocationId];
      if (invocation?.outcome !== null) return 'stale';
      const { outcome, eventsPending = false } = write;
      model.invocations[write.invocationId] = { ...invocation, outcome, eventsPending };
      return null;
    }
    case 'tellInvocation': {
      const invocation = model.invocations[write.invocationId];
      if (!invocation?.eventsPending) return 'stale';
      model.invocations[write.invocationId] = { ...invocation, eventsPending: false };
      return null;
    }
    case 'putEntry': {
      const { entry, expectedVersion } = write;
      const version = model.entries[entry.id]?.version ?? null;
      if (version !== expectedVersion) return expectedVersion === null ? 'exists' : 'stale';
      model.entries[entry.id] = storedEntry(entry, (version ?? 0) + 1);
      return null;
    }
    case 'deleteEntry': {
      if (model.entries[write.key.id]?.version !== write.expectedVersion) return 'stale';
      delete model.entries[write.key.id];
      return null;
    }
    case 'expectEntry':
      return (model.entries[write.key.id]?.version ?? null) === write.version ? null : 'stale';
    case 'adjust': {
      const value = Math.max(model.counters[write.key.id] ?? 0, write.floor ?? -Infinity) + write.delta;
      if (write.delta > 0 && write.max !== undefined && value > write.max) return 'full';
      model.counters[write.key.id] = value;
      return null;
    }
    default:
      return null;
  }
}
