import Type, { type Static } from 'typebox';
import { AgentId } from './interrupt-data.ts';
import { Count, closedObject, optional, Text, Values } from './schema.ts';

const Share = Type.Number({ minimum: 0, maximum: 1 });
const ENTRIES_MAX = 1_000;

const MockToolCall = closedObject({
  toolId: Text,
  arguments: optional(Type.Unknown()),
  result: optional(Type.Unknown()),
  error: optional(closedObject({ error: Text, message: Text, details: optional(Values) })),
  durationMs: optional(Count),
});
export type MockToolCall = Static<typeof MockToolCall>;

const MockReasoning = closedObject({
  summary: Type.String(),
  trace: optional(Type.String()),
  tokenCount: optional(Count),
  streamChunks: optional(Type.Array(Type.String(), { maxItems: ENTRIES_MAX })),
});

/** Config of `core.conformance.mock-agent`. */
export const MockAgentConfig = closedObject({
  agentId: optional(AgentId),
  mockReasoning: optional(Type.Union([Type.Boolean(), MockReasoning])),
  mockToolCalls: optional(Type.Array(MockToolCall, { maxItems: ENTRIES_MAX })),
  mockHandoff: optional(
    closedObject({ toAgentId: AgentId, reason: optional(Type.String()), context: optional(Type.Unknown()) }),
  ),
  mockDecision: optional(
    closedObject({
      decision: Type.Unknown(),
      confidence: optional(Share),
      reasoning: optional(Type.String()),
    }),
  ),
  mockConfidence: optional(Share),
});
export type MockAgentConfig = Static<typeof MockAgentConfig>;
