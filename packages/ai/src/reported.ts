/** What a provider says is checked before it is used: budgets count it, schemas judge it, and it is stored. */
import { type Json, NESTING_MAX, nestingDepth } from '@gantry/protocol';

/** More than any request has; sums and costs of such counts are safe integers. */
export const TOKENS_MAX = 100_000_000;

export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;

/** Undefined is as if the provider had reported none: the count is estimated. */
export const reportedCount = (value: unknown): number | undefined => (isCount(value) ? value : undefined);

const NAME = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

export const reportedName = (name: string | undefined): string | undefined =>
  name !== undefined && NAME.test(name) ? name : undefined;

export const isTooDeep = (json: string): boolean => nestingDepth(json, NESTING_MAX) > NESTING_MAX;

/** The value of a text that a model wrote; undefined if it is not JSON, or nested deeper than bodies of requests may be. */
export function jsonOfModel(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
