/** Shared parts of the methods of `aiProviders`. */
import type { JsonObject } from '@gantry/protocol';
import Type, { type TProperties } from 'typebox';
import { acts } from '../../calls/define-surface.ts';
import { Amount, optional, text } from '../../calls/schema.ts';

export const Schema = Type.Unsafe<JsonObject>({ type: 'object' });

export const Which = {
  provider: optional(text(64)),
  model: optional(text(256)),
  credentialRef: optional(text(256)),
};

export const Usage = optional(
  Type.Object({
    inputTokens: optional(Amount),
    outputTokens: optional(Amount),
    totalTokens: optional(Amount),
    cacheReadTokens: optional(Amount),
    cacheWriteTokens: optional(Amount),
  }),
);

/** For calls whose prompts share a prefix. */
export const CachePrefix = { cachePrefixId: optional(text(256)) };

export const asks = <I extends TProperties, O extends TProperties>(summary: string, input: I, output: O) =>
  acts(summary, input, output, { slow: true });

/** Errors when no model answers. */
export const MODEL_ERRORS = [
  'provider_unavailable',
  'provider_quota_exhausted',
  'provider_not_supported',
  'model_not_supported',
] as const;
