/** Failed work, kept for inspection. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, Positive, Text, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const DEAD_LETTER_EVENT_PAYLOADS = {
  /** Precedes `run.failed`: all retries of a node have failed. */
  'run.dead_lettered': Type.Object({
    runId: Text,
    reason: Text,
    attempts: Positive,
    nodeId: optional(Type.String()),
  }),
} as const;

const shared = {
  deadLetterId: Type.String(),
  reason: Type.String(),
  attempts: Count,
  workflowId: Type.String(),
  createdAt: Time,
  /**
   * Until then, the run can be forked or the delivery retried. The letter of a run is kept until a user deletes
   * it, at most a year longer.
   */
  expiresAt: Time,
};

export const DeadLetter = Type.Union([
  Type.Object({
    ...shared,
    type: Type.Literal('run'),
    runId: Type.String(),
    nodeId: Type.String(),
  }),
  Type.Object({
    ...shared,
    type: Type.Literal('delivery'),
    deliveryId: Type.String(),
    /** For an event from outside. */
    subscriptionId: optional(Type.String()),
    /** For a write to a channel. */
    triggerId: optional(Type.String()),
  }),
  /** Ticks in a row that started no run: one letter for all of them. `attempts` counts them. */
  Type.Object({
    ...shared,
    type: Type.Literal('schedule'),
    scheduleId: Type.String(),
    /** The latest of the ticks. */
    scheduledFor: Time,
    message: Type.String(),
  }),
]);
export type DeadLetter = Static<typeof DeadLetter>;

/** The result of a retry: a fork of the run, the delivery in progress again, or a schedule that is due now. */
export const DeadLetterRetry = Type.Union([
  Type.Object({ type: Type.Literal('run'), runId: Type.String(), sourceRunId: Type.String() }),
  Type.Object({ type: Type.Literal('delivery'), deliveryId: Type.String() }),
  Type.Object({ type: Type.Literal('schedule'), scheduleId: Type.String() }),
]);
export type DeadLetterRetry = Static<typeof DeadLetterRetry>;

export const deadLettersWire = wire(
  {
    path: 'dead-letters',
    list: 'deadLetters',
    id: 'deadLetterId',
    item: { retry: 'write' },
  },
  {
    about: 'Runs, events and ticks of schedules that failed for good',
    scopes: { read: ['runs:read'], write: ['runs:cancel'] },
    input: Type.Never(),
    view: DeadLetter,
    gone: true,
    own: ['create'],
    feed: true,
    methods: {
      retry: {
        about:
          'Deliver a dead event again, fork a dead run before the node that failed, or fire a schedule now',
        in: closedObject({}),
        out: DeadLetterRetry,
        accepted: true,
        scopes: ['runs:create', 'runs:read'],
      },
    },
  },
);
