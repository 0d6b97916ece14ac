/** Heartbeats as a resource. A heartbeat is due at its next tick, or at the time limit of its evaluation. */
import {
  HEARTBEAT_LIMITS,
  type HeartbeatTick,
  type Heartbeat as HeartbeatView,
  heartbeatsWire,
  isoTime,
  type JsonObject,
  runOwnerOf,
} from '@gantry/protocol';
import { listRecords, type RecordKind, resource, type Stored } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import { type Admitting, admit } from '../workflows/admission.ts';

/** The run's own time limit is earlier; this one is for a host that was down meanwhile. */
const EVALUATION_GRACE_MS = 2_000;

export type HeartbeatState =
  | { readonly status: 'waiting'; readonly tickAt: number }
  | { readonly status: 'evaluating'; readonly runId: string; readonly deadline: number };

export interface HeartbeatRecord {
  /** Registered the heartbeat, and owns its runs. */
  readonly principal: string;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly intervalMs: number;
  readonly maxRuntimeMs: number;
  readonly enqueue: { readonly workflowId: string; readonly inputs: JsonObject } | null;
  readonly state: HeartbeatState;
  /** The last state that the predicate saw; null before the first observation. */
  readonly seen: JsonObject | null;
  readonly lastTick: HeartbeatTick | null;
}

/** Each tick reserves two sequence numbers for its events. */
export const nextSequence = ({ lastTick }: HeartbeatRecord): number => (lastTick ? lastTick.sequence + 2 : 0);

export type StoredHeartbeat = Stored<HeartbeatRecord>;

/** Ticks are at multiples of the interval after the registration; those during an evaluation are skipped. */
export const nextTickAt = (createdAt: number, intervalMs: number, now: number): number =>
  createdAt + (Math.floor((now - createdAt) / intervalMs) + 1) * intervalMs;

const DAY_MS = 86_400_000;
const TICK_KEPT_MS = DAY_MS;
const CHANGE_KEPT_MS = 30 * DAY_MS;
const TICKS_DEFAULT = 50;

/** Sorts like the numbers. */
export const sequenceIndex = (heartbeatId: string, sequence: number): string =>
  `${heartbeatId}/${String(sequence).padStart(12, '0')}`;

/** A tick of a heartbeat, stored for readers. */
export const heartbeatTicks: RecordKind<HeartbeatTick> = {
  kind: 'heartbeat-tick',
  idPrefix: 'hbt',
  index: {
    heartbeatId: ({ evaluated }) => evaluated.heartbeatId,
    sequence: ({ evaluated, sequence }) => sequenceIndex(evaluated.heartbeatId, sequence),
  },
  expiresAt: ({ evaluated }, now) => now + (evaluated.changed ? CHANGE_KEPT_MS : TICK_KEPT_MS),
};

interface Services {
  readonly workflows: Admitting;
  readonly entries: EntryReads;
}

export const heartbeats = resource<typeof heartbeatsWire, HeartbeatRecord, undefined, Services>(
  heartbeatsWire,
  {
    kind: 'heartbeat',
    idPrefix: 'hb',
    max: HEARTBEAT_LIMITS.perTenantMax,
    dueAt: ({ state }) => (state.status === 'waiting' ? state.tickAt : state.deadline + EVALUATION_GRACE_MS),

    // Refuse now, not at the first tick, a request that cannot become a run.
    async prepare({ workflowId, inputs, enqueue }, { workflows }, caller) {
      for (const wanted of [{ workflowId, inputs }, ...(enqueue ? [enqueue] : [])])
        await admit(workflows, runOwnerOf(caller), {
          ...wanted,
          inputs: (wanted.inputs ?? {}) as JsonObject,
        });
      return undefined;
    },
    create({ workflowId, inputs = {}, intervalSec, maxRuntimeMs, enqueue }, _, { now, caller }) {
      const intervalMs = Math.max(intervalSec, HEARTBEAT_LIMITS.minIntervalSec) * 1_000;
      return {
        principal: caller.actor,
        workflowId,
        intervalMs,
        seen: null,
        lastTick: null,
        inputs: inputs as JsonObject,
        maxRuntimeMs: maxRuntimeMs ?? HEARTBEAT_LIMITS.defaultRuntimeMs,
        enqueue: enqueue
          ? { workflowId: enqueue.workflowId, inputs: (enqueue.inputs ?? {}) as JsonObject }
          : null,
        state: { status: 'waiting', tickAt: nextTickAt(now, intervalMs, now) },
      };
    },
    verbs: {},
    reads: {
      /** Newest first. */
      async ticks(_, { before: beforeId, limit = TICKS_DEFAULT }, { stored: { tenant, id }, services }) {
        const listed = await listRecords(services.entries, heartbeatTicks, tenant, {
          index: { name: 'heartbeatId', value: id },
          limit: limit + 1,
          ...(beforeId !== undefined && { beforeId }),
        });
        const page = listed.slice(0, limit);
        const next = listed.length > limit ? { nextBefore: page.at(-1)!.id } : {};
        return { ticks: page.map(({ record }) => record), ...next };
      },
    },
    show: ({ id, createdAt, record }) => viewOf(id, createdAt, record),
  },
);

function viewOf(id: string, createdAt: number, record: HeartbeatRecord): HeartbeatView {
  const { workflowId, intervalMs, maxRuntimeMs, enqueue, state, seen, lastTick } = record;
  return {
    heartbeatId: id,
    workflowId,
    intervalSec: intervalMs / 1_000,
    maxRuntimeMs,
    ...(enqueue && { enqueue: { workflowId: enqueue.workflowId } }),
    createdAt: isoTime(createdAt),
    ...(seen && { state: seen }),
    ...(state.status === 'waiting'
      ? { nextTickAt: isoTime(state.tickAt) }
      : { evaluatingRunId: state.runId }),
    ...(lastTick && { lastTick }),
  };
}
