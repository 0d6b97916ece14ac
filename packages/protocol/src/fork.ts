import Type, { type Static } from 'typebox';
import { CreateRunRequest, RunStatus } from './run.ts';

const closed = { additionalProperties: false } as const;
const { configurable, tags, metadata } = CreateRunRequest.properties;

export const ForkMode = Type.Enum(['replay', 'branch']);
export type ForkMode = Static<typeof ForkMode>;

/** What a branch changes of its source's options. Keys of `configurable` and `metadata` replace one by one. */
export const RunOptionsOverlay = Type.Object({ configurable, tags, metadata }, closed);
export type RunOptionsOverlay = Static<typeof RunOptionsOverlay>;

/** Body of `POST /v1/runs/{runId}:fork`. A replay starts at 0 unless told otherwise; a branch must be told. */
export const ForkRunRequest = Type.Object(
  {
    mode: ForkMode,
    fromSeq: Type.Optional(Type.Integer({ minimum: 0 })),
    runOptionsOverlay: Type.Optional(RunOptionsOverlay),
  },
  closed,
);
export type ForkRunRequest = Static<typeof ForkRunRequest>;

export const ForkRunResponse = Type.Object({
  runId: Type.String(),
  sourceRunId: Type.String(),
  fromSeq: Type.Integer({ minimum: 0 }),
  mode: ForkMode,
  status: RunStatus,
  eventsUrl: Type.String(),
});
export type ForkRunResponse = Static<typeof ForkRunResponse>;
