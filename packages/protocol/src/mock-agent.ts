import Type, { type Static } from 'typebox';
import { AgentId } from './interrupt-data.ts';

const closed = { additionalProperties: false } as const;
const optional = Type.Optional;
const Text = Type.String({ minLength: 1 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const ENTRIES_MAX = 1_000;

const MockToolCall = Type.Object(
  {
    toolId: Text,
    arguments: optional(Type.Unknown()),
    result: optional(Type.Unknown()),
    error: optional(
      Type.Object(
        { error: Text, message: Text, details: optional(Type.Record(Type.String(), Type.Unknown())) },
        closed,
      ),
    ),
    durationMs: optional(Type.Integer({ minimum: 0 })),
  },
  closed,
);
export type MockToolCall = Static<typeof MockToolCall>;

const MockReasoning = Type.Object(
  {
    summary: Type.String(),
    trace: optional(Type.String()),
    tokenCount: optional(Type.Integer({ minimum: 0 })),
    streamChunks: optional(Type.Array(Type.String(), { maxItems: ENTRIES_MAX })),
  },
  closed,
);
export type MockReasoning = Static<typeof MockReasoning>;

/** Config of `core.conformance.mock-agent`. */
export const MockAgentConfig = Type.Object(
  {
    agentId: optional(AgentId),
    mockReasoning: optional(Type.Union([Type.Boolean(), MockReasoning])),
    mockToolCalls: optional(Type.Array(MockToolCall, { maxItems: ENTRIES_MAX })),
    mockHandoff: optional(
      Type.Object(
        { toAgentId: AgentId, reason: optional(Type.String()), context: optional(Type.Unknown()) },
        closed,
      ),
    ),
    mockDecision: optional(
      Type.Object(
        { decision: Type.Unknown(), confidence: optional(Share), reasoning: optional(Type.String()) },
        closed,
      ),
    ),
    mockConfidence: optional(Share),
  },
  closed,
);
export type MockAgentConfig = Static<typeof MockAgentConfig>;
