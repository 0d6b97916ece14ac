/** A heartbeat at rest: an entry that is due at its next tick, or when its evaluation has to be over. */
import type { HeartbeatTick, Heartbeat as HeartbeatView, JsonObject } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';

export const HEARTBEAT_KIND = 'heartbeat';
/** The run's own time limit ends it first; this is for a host that was down meanwhile. */
const EVALUATION_GRACE_MS = 2_000;

export type HeartbeatState =
  | { readonly status: 'waiting'; readonly tickAt: number }
  | { readonly status: 'evaluating'; readonly runId: string; readonly deadline: number };

export interface HeartbeatRecord {
  /** The key that registered it; its runs belong to it. */
  readonly keyId: string;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly intervalMs: number;
  readonly maxRuntimeMs: number;
  readonly enqueue: { readonly workflowId: string; readonly inputs: JsonObject } | null;
  readonly state: HeartbeatState;
  /** What the predicate saw last; null before the first observation. */
  readonly seen: JsonObject | null;
  readonly lastTick: HeartbeatTick | null;
}

export interface StoredHeartbeat {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly record: HeartbeatRecord;
}

export const readHeartbeat = ({ tenant, id, version, createdAt, body }: Entry): StoredHeartbeat => ({
  tenant,
  id,
  version,
  createdAt,
  record: JSON.parse(body),
});

export function putHeartbeat(
  stored: Pick<StoredHeartbeat, 'tenant' | 'id' | 'createdAt'> & { readonly version: number | null },
  record: HeartbeatRecord,
): Extract<Write, { kind: 'putEntry' }> {
  const { tenant, id, createdAt, version } = stored;
  const { state } = record;
  const dueAt = state.status === 'waiting' ? state.tickAt : state.deadline + EVALUATION_GRACE_MS;
  return {
    kind: 'putEntry',
    entry: {
      kind: HEARTBEAT_KIND,
      tenant,
      id,
      createdAt,
      dueAt,
      ref: record.workflowId,
      expiresAt: null,
      body: JSON.stringify(record),
    },
    expectedVersion: version,
  };
}

/** Ticks lie on a grid from the registration on; those that passed during an evaluation are skipped. */
export const nextTickAt = (createdAt: number, intervalMs: number, now: number): number =>
  createdAt + (Math.floor((now - createdAt) / intervalMs) + 1) * intervalMs;

const iso = (at: number): string => new Date(at).toISOString();

export function viewOf({
  id,
  createdAt,
  record,
}: Omit<StoredHeartbeat, 'version' | 'tenant'>): HeartbeatView {
  const { workflowId, intervalMs, maxRuntimeMs, enqueue, state, seen, lastTick } = record;
  return {
    heartbeatId: id,
    workflowId,
    intervalSec: intervalMs / 1_000,
    maxRuntimeMs,
    ...(enqueue && { enqueue: { workflowId: enqueue.workflowId } }),
    createdAt: iso(createdAt),
    ...(seen && { state: seen }),
    ...(state.status === 'waiting' ? { nextTickAt: iso(state.tickAt) } : { evaluatingRunId: state.runId }),
    ...(lastTick && { lastTick }),
  };
}
