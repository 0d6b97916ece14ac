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

/** One difference of the two states: what stands at a JSON pointer in a and in b, absent where nothing does. */
export const StateDifference = closedObject({ a: optional(Type.Unknown()), b: optional(Type.Unknown()) });

/** Answer of `GET /v1/runs/{runId}:diff?against=`: a function of both logs and nothing else. */
export const RunDiffResponse = closedObject({
  a: RunId,
  b: RunId,
  /** Where the logs part; null when they are the same. */
  divergedAtSeq: Type.Union([Count, Type.Null()]),
  eventDiffs: Type.Array(EventDiff),
  /** By JSON pointer. */
  stateDiff: Type.Record(Type.String(), StateDifference),
  /** A run is still under way, or there are more differences than are listed. */
  truncated: optional(Type.Boolean()),
});
export type RunDiffResponse = Static<typeof RunDiffResponse>;
