import Type, { type Static } from 'typebox';
import { RunEventDocSchema } from './event.ts';
import { OpenwopCost, RunSnapshot } from './run.ts';
import { Count, closedObject, optional, Text, Values } from './schema.ts';
import { MaskingMode } from './workflow.ts';

export const DEBUG_BUNDLE_VERSION = '1.0';
/** Above this size, the bundle contains a prefix of the events and says so. */
export const DEBUG_BUNDLE_BYTES_MAX = 8_000_000;
export const DEBUG_BUNDLE_TRUNCATED_REASON = 'events_truncated_to_size_cap';

const Span = Type.Object({
  name: Text,
  spanId: Type.String(),
  parentSpanId: Type.Union([Type.String(), Type.Null()]),
  startedAt: Type.String(),
  endedAt: Type.Union([Type.String(), Type.Null()]),
  attributes: Values,
  traceId: optional(Type.String()),
  kind: optional(Type.String()),
  status: optional(Type.Unknown()),
});

/** The response of `GET /v1/runs/{runId}/debug-bundle`: all data of one run, masked. */
export const DebugBundle = Type.Object({
  bundleVersion: Type.Literal(DEBUG_BUNDLE_VERSION),
  generatedAt: Type.String(),
  host: closedObject({
    name: Text,
    version: Text,
    vendor: optional(Type.String()),
  }),
  runId: optional(Type.String()),
  run: RunSnapshot,
  events: Type.Array(RunEventDocSchema),
  spans: Type.Array(Span),
  metrics: Type.Object({
    openwopCost: Type.Union([OpenwopCost, Type.Null()]),
    nodeCount: Count,
    /** Always `events.length`, even if truncated. */
    eventCount: Count,
  }),
  /** Never true together with `passthrough`. */
  redactionApplied: Type.Boolean(),
  redactionMode: MaskingMode,
  truncated: optional(Type.Literal(true)),
  truncatedReason: optional(Type.Literal(DEBUG_BUNDLE_TRUNCATED_REASON)),
});
export type DebugBundle = Static<typeof DebugBundle>;
