import { llmCacheKey } from '@gantry/engine';
import type { Api } from '@gantry/http';
import { type Json, type JsonObject, Values } from '@gantry/protocol';
import canonicalize from 'canonicalize';
import { sha256 } from '../../workflows/chain-options.ts';
import { seam } from './seam.ts';

const tools = { sha256, canonicalize: (value: Json): string => canonicalize(value) ?? '' };

export function llmCacheKeySeam(app: Api): void {
  seam(app, 'test/llm-cache-key', Values, async (_caller, request) => ({
    cacheKey: llmCacheKey(request as JsonObject, tools),
  }));
}
