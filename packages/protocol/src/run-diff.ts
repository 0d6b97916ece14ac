import Type, { type Static } from 'typebox';
import { RunEventDocSchema } from './event.ts';

const closed = { additionalProperties: false } as const;
const RunId = Type.String({ minLength: 1, maxLength: 128 });

export const RunDiffQuery = Type.Object({ against: RunId }, closed);

/** `added` is only in b, `removed` only in a. */
export const EventDiff = Type.Object(
  {
    seq: Type.Integer({ minimum: 0 }),
    op: Type.Enum(['added', 'removed', 'changed']),
    aEvent: Type.Optional(RunEventDocSchema),
    bEvent: Type.Optional(RunEventDocSchema),
  },
  closed,
);
export type EventDiff = Static<typeof EventDiff>;

/** One difference of the two states: what stands at a JSON pointer in a and in b, absent where nothing does. */
export const StateDifference = Type.Object(
  { a: Type.Optional(Type.Unknown()), b: Type.Optional(Type.Unknown()) },
  closed,
);
export type StateDifference = Static<typeof StateDifference>;

/** Answer of `GET /v1/runs/{runId}:diff?against=`: a function of both logs and nothing else. */
export const RunDiffResponse = Type.Object(
  {
    a: RunId,
    b: RunId,
    /** Where the logs part; null when they are the same. */
    divergedAtSeq: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    eventDiffs: Type.Array(EventDiff),
    /** By JSON pointer. */
    stateDiff: Type.Record(Type.String(), StateDifference),
    /** A run is still under way, or there are more differences than are listed. */
    truncated: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type RunDiffResponse = Static<typeof RunDiffResponse>;
