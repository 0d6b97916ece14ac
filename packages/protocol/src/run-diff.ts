import Type, { type Static } from 'typebox';
import { RunEventDocSchema } from './event.ts';
import { Count, closedObject, optional } from './schema.ts';

const RunId = Type.String({ minLength: 1, maxLength: 128 });

export const RunDiffQuery = closedObject({ against: RunId });

/** `added` is only in b, `removed` only in a. */
export const EventDiff = closedObject({
  seq: Count,
  op: Type.Enum(['added', 'removed', 'changed']),
  aEvent: optional(RunEventDocSchema),
  bEvent: optional(RunEventDocSchema),
});
export type EventDiff = Static<typeof EventDiff>;

/** One difference of the two states: the values at a JSON pointer in a and in b, absent if missing there. */
export const StateDifference = closedObject({ a: optional(Type.Unknown()), b: optional(Type.Unknown()) });

/** Response of `GET /v1/runs/{runId}:diff?against=`: a pure function of both logs. */
export const RunDiffResponse = closedObject({
  a: RunId,
  b: RunId,
  /** Where the logs diverge; null if they are the same. */
  divergedAtSeq: Type.Union([Count, Type.Null()]),
  eventDiffs: Type.Array(EventDiff),
  /** By JSON pointer. */
  stateDiff: Type.Record(Type.String(), StateDifference),
  /** A run has not ended yet, or there are more differences than listed. */
  truncated: optional(Type.Boolean()),
});
export type RunDiffResponse = Static<typeof RunDiffResponse>;
