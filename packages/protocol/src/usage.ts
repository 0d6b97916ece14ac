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

/** The model calls in the log of a run, and those with an unknown outcome. */
export const RunUsage = Type.Object({
  runId: Text,
  /** Of all calls in the log; a fork has those of its source up to the fork. */
  tokens: Count,
  costUsd: Type.Number({ minimum: 0 }),
  callCount: Count,
  /**
   * What the budget counts, including current reservations: of a run with its children, and of all forks and repeats
   * of them. `runId` is the first of these runs.
   */
  family: Type.Object({ runId: Text, tokens: Count, costUsd: Type.Number({ minimum: 0 }) }),
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
