/**
 * The cache key of a request to a model: recipe v2 of the semantic request. It includes what can change the
 * answer, and not the transport.
 */
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { isObject } from './json.ts';
import type { Sha256 } from './mask.ts';

const RECIPE = 'openwop-semantic-request-v2';

/** Fields of the recipe in addition to messages and tools. */
const COUNTED = [
  'temperature',
  'topP',
  'topK',
  'responseFormat',
  'maxOutputTokens',
  'stop',
  'seed',
  'safetySettings',
] as const;

/** Transport, sender and purpose of a request: these do not affect the answer of the model. */
const TRANSPORT = new Set([
  'timeout',
  'timeoutMs',
  'stream',
  'metadata',
  'user',
  'userId',
  'trace',
  'traceContext',
  'traceId',
  'traceparent',
  'tracestate',
  'spanId',
  'id',
  'requestId',
  'x-request-id',
  'correlationId',
  'invocationId',
  'idempotencyKey',
  'retries',
  'retryCount',
  'maxRetries',
  'attempt',
  'apiKey',
  'credential',
  'credentials',
  'credentialRef',
  'tenant',
  'tenantId',
  'workspace',
  'workspaceId',
  'run',
  'runId',
  'nodeId',
]);
const RECIPE_FIELDS = new Set<string>([
  'provider',
  'model',
  'messages',
  'tools',
  'providerOptions',
  ...COUNTED,
]);

export interface KeyTools {
  readonly sha256: Sha256;
  /** RFC 8785. */
  readonly canonicalize: (value: Json) => string;
}

/** Lowercase hex. Keys of different tenants must not share a cache. */
export function llmCacheKey(request: JsonObject, { sha256, canonicalize }: KeyTools): string {
  const { provider, model, messages } = request;
  if (typeof provider !== 'string' || provider === '') throw missing('provider');
  if (typeof model !== 'string' || model === '') throw missing('model');
  if (!Array.isArray(messages)) throw missing('messages');
  const semantic: JsonObject = { messages };
  if (Array.isArray(request.tools)) semantic.tools = byName(request.tools);
  for (const field of COUNTED) if (request[field] !== undefined) semantic[field] = request[field];
  const providerOptions = optionsOf(request, provider);
  return sha256(
    canonicalize({
      recipe: RECIPE,
      provider,
      model,
      request: semantic,
      ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
    }),
  );
}

/** `<` compares UTF-16 code units, whatever the locale. */
function byName(tools: readonly Json[]): Json[] {
  const nameOf = (tool: Json): string => (isObject(tool) && typeof tool.name === 'string' ? tool.name : '');
  return [...tools].sort((left, right) => {
    const [one, other] = [nameOf(left), nameOf(right)];
    return one < other ? -1 : one > other ? 1 : 0;
  });
}

/** An option that the recipe does not know still counts: two answers under one key are worse than a cache miss. */
function optionsOf(request: JsonObject, provider: string): JsonObject {
  const options: JsonObject = isObject(request.providerOptions) ? { ...request.providerOptions } : {};
  for (const [name, value] of Object.entries(request)) {
    if (RECIPE_FIELDS.has(name) || TRANSPORT.has(name) || value === undefined) continue;
    options[`vendor.${provider}.${name}`] = value;
  }
  return options;
}

const missing = (field: string): OpenwopError =>
  new OpenwopError('invalid_argument', {
    message: `A request to a model needs \`${field}\`.`,
    details: { field },
  });
