/** What the methods of `aiProviders` have in common. */
import type { JsonObject } from '@gantry/protocol';
import Type, { type TProperties } from 'typebox';

export const optional = Type.Optional;
export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
export const Schema = Type.Unsafe<JsonObject>({ type: 'object' });

export const Which = {
  provider: optional(text(64)),
  model: optional(text(256)),
  credentialRef: optional(text(256)),
};

export const Usage = optional(
  Type.Object({
    inputTokens: optional(Type.Number()),
    outputTokens: optional(Type.Number()),
    totalTokens: optional(Type.Number()),
    cacheReadTokens: optional(Type.Number()),
    cacheWriteTokens: optional(Type.Number()),
  }),
);

/** Of calls that share the beginning of their prompt. */
export const CachePrefix = { cachePrefixId: optional(text(256)) };

export const asks = <I extends TProperties, O extends TProperties>(summary: string, input: I, output: O) => ({
  effect: 'effect' as const,
  slow: true as const,
  summary,
  input: Type.Object(input),
  output: Type.Object(output),
});
