import Type, { type Static } from 'typebox';
import { closedObject, optional } from './schema.ts';

/** The spending limits of a run: `configurable.budget`, or `settings.budget` of a workflow. */
export const BudgetPolicy = closedObject({
  maxTokens: optional(Type.Integer({ minimum: 1 })),
  maxCostUsd: optional(Type.Number({ minimum: 0 })),
  maxToolCalls: optional(Type.Integer({ minimum: 1 })),
  maxRetries: optional(Type.Integer({ minimum: 0 })),
  modelAllow: optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  modelDeny: optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  thresholdPercent: optional(Type.Number({ minimum: 0, maximum: 100 })),
  onExhaustion: optional(Type.Enum(['fail', 'interrupt'] as const)),
});
export type BudgetPolicy = Static<typeof BudgetPolicy>;

export type BudgetDimension = 'tokens' | 'cost' | 'toolCalls' | 'retries';

/** `claude-*`: a star matches any text. Takes linear time: the parts between stars are searched in order. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  const last = rest.pop()!;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
