import Type, { type Static } from 'typebox';
import { Count, optional, Text } from './schema.ts';

const Amounts = {
  calls: Count,
  inputTokens: Count,
  outputTokens: Count,
  costUsd: Type.Number({ minimum: 0 }),
};

/** What models were used for, by workflow, from one day to another. */
export const ModelUsage = Type.Object({
  from: Text,
  to: Text,
  total: Type.Object(Amounts),
  workflows: Type.Array(Type.Object({ workflowId: Text, ...Amounts })),
});
export type ModelUsage = Static<typeof ModelUsage>;

/** What a run and its children used, and which of their calls nobody knows the end of. */
export const RunUsage = Type.Object({
  runId: Text,
  /** Of the family, with what is reserved now. */
  tokens: Count,
  costUsd: Type.Number({ minimum: 0 }),
  callCount: Count,
  /** At most the last 1,000. */
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
