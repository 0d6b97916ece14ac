import Type, { type Static } from 'typebox';
import { Count, optional, Text } from './schema.ts';

const Amounts = {
  calls: Count,
  inputTokens: Count,
  outputTokens: Count,
  costUsd: Type.Number({ minimum: 0 }),
};

/** Use of models by workflow, in a range of days. */
export const ModelUsage = Type.Object({
  from: Text,
  to: Text,
  total: Type.Object(Amounts),
  workflows: Type.Array(Type.Object({ workflowId: Text, ...Amounts })),
});
export type ModelUsage = Static<typeof ModelUsage>;

/** The usage of a run and its children, and their calls with an unknown outcome. */
export const RunUsage = Type.Object({
  runId: Text,
  /** Of the whole family, including current reservations. */
  tokens: Count,
  costUsd: Type.Number({ minimum: 0 }),
  callCount: Count,
  /** The last 1,000 at most. */
  calls: Type.Array(
    Type.Object({
      nodeId: optional(Text),
      provider: Text,
      model: Text,
      inputTokens: Count,
      outputTokens: Count,
      costUsd: optional(Type.Number({ minimum: 0 })),
    }),
  ),
  inDoubt: Type.Array(
    Type.Object({
      invocationId: Text,
      nodeId: Text,
      since: Text,
      tokens: Count,
      costUsd: Type.Number({ minimum: 0 }),
    }),
  ),
});
export type RunUsage = Static<typeof RunUsage>;
