import type { JsonObject } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { numberAt, textAt } from '../payload.ts';

const NANO = 1e9;

/** What the models of a run cost. Sums of dollars are kept to a billionth: adding fractions as they are would drift. */
export function foldUsage(run: Draft, payload: JsonObject): void {
  const { usd = 0, tokens: { input = 0, output = 0 } = {} } = run.cost ?? {};
  run.cost = {
    usd: Math.round((usd + numberAt(payload, 'costEstimateUsd', 0)) * NANO) / NANO,
    tokens: {
      input: input + numberAt(payload, 'inputTokens', 0),
      output: output + numberAt(payload, 'outputTokens', 0),
    },
    model: textAt(payload, 'model'),
    provider: textAt(payload, 'provider'),
  };
}
