import { llmCacheKey } from '@gantry/engine';
import type { Api } from '@gantry/http';
import type { Json, JsonObject } from '@gantry/protocol';
import canonicalize from 'canonicalize';
import Type from 'typebox';
import { sha256 } from '../../workflows/chain-options.ts';

const Request = Type.Record(Type.String(), Type.Unknown());
const Key = Type.Object({ cacheKey: Type.String() });
const tools = { sha256, canonicalize: (value: Json): string => canonicalize(value) ?? '' };

export function llmCacheKeySeam(app: Api): void {
  app.post(
    '/v1/host/sample/test/llm-cache-key',
    { schema: { summary: 'The cache key of a request to a model', body: Request, response: { 200: Key } } },
    async (request) => ({ cacheKey: llmCacheKey(request.body as JsonObject, tools) }),
  );
}
