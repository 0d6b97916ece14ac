/** Predicate-gated polling (host.heartbeat): requests, responses and events. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Text, Values } from '../schema.ts';
import { wire } from '../wire.ts';

const WorkflowId = Type.String({ minLength: 1, maxLength: 128 });

export const HEARTBEAT_LIMITS = {
  perTenantMax: 100,
  minIntervalSec: 60,
  maxIntervalSec: 7 * 86_400,
  defaultRuntimeMs: 5_000,
  maxRuntimeMs: 30_000,
  /** The state only needs to distinguish observations. */
  stateBytesMax: 4_096,
} as const;

/** `heartbeat` of the discovery document. */
export const HEARTBEAT_CAPABILITY = {
  supported: true,
  minIntervalSec: HEARTBEAT_LIMITS.minIntervalSec,
  maxRuntimeMs: HEARTBEAT_LIMITS.maxRuntimeMs,
} as const;

export const CreateHeartbeatRequest = closedObject({
  /** The predicate. Its outputs: `state`, the observation, and `enqueue`, whether to act on it. */
  workflowId: WorkflowId,
  inputs: optional(Values),
  /** Intervals below the host's minimum are raised to it. */
  intervalSec: Type.Integer({ minimum: 1, maximum: HEARTBEAT_LIMITS.maxIntervalSec }),
  maxRuntimeMs: optional(Type.Integer({ minimum: 1, maximum: HEARTBEAT_LIMITS.maxRuntimeMs })),
  /** The workflow to run if the state has changed and the predicate requests it. */
  enqueue: optional(closedObject({ workflowId: WorkflowId, inputs: optional(Values) })),
});

export const HeartbeatStatus = Type.Enum(['ok', 'timeout', 'error']);

export const HeartbeatEvaluated = closedObject({
  heartbeatId: Text,
  status: HeartbeatStatus,
  changed: Type.Boolean(),
});

export const HeartbeatStateChanged = closedObject({ heartbeatId: Text, from: Values, to: Values });

/** They belong to a heartbeat, not to a run. */
export const HEARTBEAT_EVENTS = ['heartbeat.evaluated', 'heartbeat.stateChanged'] as const;

/** One tick: always an evaluation; on a transition also the change and the enqueued run. */
export const HeartbeatTick = Type.Object({
  at: Type.String(),
  /** The sequence of its first event; the change event has the next one. */
  sequence: Type.Integer({ minimum: 0 }),
  runId: optional(Type.String()),
  evaluated: HeartbeatEvaluated,
  stateChanged: optional(HeartbeatStateChanged),
  enqueuedRunId: optional(Type.String()),
  error: optional(Type.Object({ code: Type.String(), message: Type.String() })),
});
export type HeartbeatTick = Static<typeof HeartbeatTick>;

export const Heartbeat = Type.Object({
  heartbeatId: Text,
  workflowId: Type.String(),
  intervalSec: Type.Integer(),
  maxRuntimeMs: Type.Integer(),
  enqueue: optional(Type.Object({ workflowId: Type.String() })),
  createdAt: Type.String(),
  /** Absent before the first observation. */
  state: optional(Values),
  nextTickAt: optional(Type.String()),
  /** The run that is evaluating the predicate now. */
  evaluatingRunId: optional(Type.String()),
  lastTick: optional(HeartbeatTick),
});
export type Heartbeat = Static<typeof Heartbeat>;

export const heartbeatsWire = wire(
  {
    path: 'heartbeats',
    id: 'heartbeatId',
    item: { ticks: 'read' },
  },
  {
    about: 'Watch something by a predicate, and act when it changes',
    scopes: { read: ['runs:read'], write: ['runs:create'] },
    listed: HEARTBEAT_LIMITS.perTenantMax,
    input: CreateHeartbeatRequest,
    view: Heartbeat,
    feed: true,
    methods: {
      ticks: {
        about: 'The latest ticks of a heartbeat: each evaluation, and the changes among them',
        in: closedObject({
          before: optional(Type.String({ minLength: 1, maxLength: 128 })),
          limit: optional(Type.Integer({ minimum: 1, maximum: 200 })),
        }),
        out: Type.Object({ ticks: Type.Array(HeartbeatTick), nextBefore: optional(Type.String()) }),
      },
    },
  },
);
