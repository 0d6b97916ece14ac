import Type, { type Static } from 'typebox';
import { CreateRunRequest, RunStatus } from './run.ts';
import { Count, closedObject, optional } from './schema.ts';

const { configurable, tags, metadata } = CreateRunRequest.properties;

export const ForkMode = Type.Enum(['replay', 'branch']);
export type ForkMode = Static<typeof ForkMode>;

/** Changes of a branch to the options of its source. Keys of `configurable` and `metadata` are replaced one by one. */
export const RunOptionsOverlay = closedObject({ configurable, tags, metadata });

/** Body of `POST /v1/runs/{runId}:fork`. A replay starts at 0 by default; a branch needs `fromSeq`. */
export const ForkRunRequest = closedObject({
  mode: ForkMode,
  fromSeq: optional(Count),
  runOptionsOverlay: optional(RunOptionsOverlay),
});
export type ForkRunRequest = Static<typeof ForkRunRequest>;

export const ForkRunResponse = Type.Object({
  runId: Type.String(),
  sourceRunId: Type.String(),
  fromSeq: Count,
  mode: ForkMode,
  status: RunStatus,
  eventsUrl: Type.String(),
});
export type ForkRunResponse = Static<typeof ForkRunResponse>;
