import Type, { type Static } from 'typebox';
import { RunEventDocSchema } from './event.ts';
import { OpenwopCost, RunSnapshot } from './run.ts';
import { MaskingMode } from './workflow.ts';

export const DEBUG_BUNDLE_VERSION = '1.0';
/** Past this, the bundle keeps a prefix of the events and says so. */
export const DEBUG_BUNDLE_BYTES_MAX = 8_000_000;
export const DEBUG_BUNDLE_TRUNCATED_REASON = 'events_truncated_to_size_cap';

const Span = Type.Object({
  name: Type.String({ minLength: 1 }),
  spanId: Type.String(),
  parentSpanId: Type.Union([Type.String(), Type.Null()]),
  startedAt: Type.String(),
  endedAt: Type.Union([Type.String(), Type.Null()]),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  traceId: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  status: Type.Optional(Type.Unknown()),
});

/** What `GET /v1/runs/{runId}/debug-bundle` answers: all that is known of one run, masked. */
export const DebugBundle = Type.Object({
  bundleVersion: Type.Literal(DEBUG_BUNDLE_VERSION),
  generatedAt: Type.String(),
  host: Type.Object(
    {
      name: Type.String({ minLength: 1 }),
      version: Type.String({ minLength: 1 }),
      vendor: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  run: RunSnapshot,
  events: Type.Array(RunEventDocSchema),
  spans: Type.Array(Span),
  metrics: Type.Object({
    openwopCost: Type.Union([OpenwopCost, Type.Null()]),
    nodeCount: Type.Integer({ minimum: 0 }),
    /** Always `events.length`, also when truncated. */
    eventCount: Type.Integer({ minimum: 0 }),
  }),
  /** Never true together with `passthrough`. */
  redactionApplied: Type.Boolean(),
  redactionMode: MaskingMode,
  truncated: Type.Optional(Type.Literal(true)),
  truncatedReason: Type.Optional(Type.Literal(DEBUG_BUNDLE_TRUNCATED_REASON)),
});
export type DebugBundle = Static<typeof DebugBundle>;
