import Type from 'typebox';
import { Compile } from 'typebox/schema';
import { BudgetPolicy } from './budget.ts';
import type { ConfigurableRule } from './discovery.ts';
import { OpenwopError } from './error.ts';
import { isId } from './id.ts';
import { isObject, type JsonObject } from './json.ts';
import { problemsIn } from './problem.ts';
import { type CreateRunRequest, RUN_OPTION_LIMITS } from './run.ts';
import { closedObject, optional } from './schema.ts';

/** Reserved `configurable` keys with their own rules. The host advertises those that it supports. */
export const CONFIGURABLE_RULES = {
  recursionLimit: { type: 'integer', min: 1 },
  runTimeoutMs: { type: 'integer', min: 1 },
  maxLoopIterations: { type: 'integer', min: 1 },
  escalationThreshold: { type: 'number', min: 0, max: 1 },
  reasoningVerbosity: { type: 'string', min: 1, max: 16 },
  model: { type: 'string', min: 1 },
  temperature: { type: 'number', min: 0, max: 2 },
  maxTokens: { type: 'integer', min: 1 },
  promptOverrides: { type: 'object' },
} as const satisfies Record<string, ConfigurableRule>;

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Dollars = Type.Number({ minimum: 0 });
/** The model of a run; for `scripted`, its answers and their stated cost per million tokens. */
const AiOptions = closedObject({
  provider: optional(Name),
  model: optional(Name),
  credentialRef: optional(Name),
  script: optional(Type.Array(Type.Unknown(), { maxItems: 1_000 })),
  price: optional(closedObject({ input: optional(Dollars), output: optional(Dollars) })),
});

/** Reserved keys with closed members: a misspelled one would be a limit or a key without effect. */
const CONFIGURABLE_OBJECTS = { budget: BudgetPolicy, ai: AiOptions };
const compiled = new Map<string, ReturnType<typeof Compile>>();

/**
 * The checks on `POST /v1/runs` that its schema cannot express. Throws if one fails. Error details name the key and
 * its bounds. They repeat no text except a provider id: it might be a secret.
 */
export function checkRunOptions(request: CreateRunRequest, mocks: MockProviders = NO_MOCKS): void {
  if (request.mode === 'eval' || request.evalSuiteRef !== undefined)
    throw new OpenwopError('capability_not_provided', { details: { capability: 'agents.evalSuite' } });
  if (request.agentId !== undefined)
    throw new OpenwopError('capability_not_provided', {
      message: 'This host does not run agents yet. Name a workflow, and leave out `agentId`.',
      details: { capability: 'agents' },
    });
  if (request.configurable !== undefined) checkConfigurable(request.configurable, mocks);
  if (request.metadata !== undefined) checkMetadata(request.metadata);
}

/** Mock providers of models, and whether this caller may use one. */
export interface MockProviders {
  readonly ids: readonly string[];
  readonly allowed: boolean;
}

const NO_MOCKS: MockProviders = { ids: [], allowed: false };

function checkConfigurable(configurable: Record<string, unknown>, mocks: MockProviders): void {
  if (Object.hasOwn(configurable, 'mockProvider')) checkMockProvider(configurable.mockProvider, mocks);
  for (const key of ['budget', 'ai'] as const)
    if (Object.hasOwn(configurable, key)) checkObject(key, configurable[key]);
  for (const [key, rule] of Object.entries<ConfigurableRule>(CONFIGURABLE_RULES)) {
    if (!Object.hasOwn(configurable, key)) continue;
    const value = configurable[key];
    if (!obeys(value, rule)) {
      const number = typeof value === 'number' ? { value } : {};
      throw invalid({ key: `configurable.${key}`, ...number, ...rule });
    }
  }
}

function checkObject(key: keyof typeof CONFIGURABLE_OBJECTS, value: unknown): void {
  const schema = CONFIGURABLE_OBJECTS[key];
  const validator = compiled.get(key) ?? Compile(schema);
  compiled.set(key, validator);
  if (validator.Check(value)) return;
  const [first] = problemsIn(validator, value);
  const known = Object.keys(schema.properties).join(', ');
  throw new OpenwopError('validation_error', {
    message: `configurable.${key} is not valid: ${first!.field || 'it'} ${first!.problem}. It takes ${known}.`,
    details: { key: `configurable.${key}` },
  });
}

function checkMockProvider(mockProvider: unknown, { ids, allowed }: MockProviders): void {
  const { id, config = {}, ...others } = (isObject(mockProvider) ? mockProvider : {}) as JsonObject;
  if (typeof id !== 'string' || !ids.includes(id)) {
    const requested = typeof id === 'string' && isId(id) ? { requestedProvider: id } : {};
    const details = { ...requested, supportedProviders: [...ids] };
    throw new OpenwopError('unsupported_mock_provider', { details });
  }
  if (!allowed) throw new OpenwopError('mock_provider_forbidden');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalid({ key: 'configurable.mockProvider', unknown: unknown.slice(0, 64) });
  if (!isObject(config)) throw invalid({ key: 'configurable.mockProvider.config', type: 'object' });
}

function obeys(value: unknown, rule: ConfigurableRule): boolean {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule;
  switch (rule.type) {
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
    case 'number':
      return typeof value === 'number' && value >= min && value <= max;
    case 'string':
      return typeof value === 'string' && value.length >= min && value.length <= max;
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
  }
}

function checkMetadata(metadata: Record<string, unknown>): void {
  const { metadataDepthMax, metadataBytesMax } = RUN_OPTION_LIMITS;
  if (deeperThan(metadataDepthMax, metadata)) {
    throw invalid({ key: 'metadata', limit: 'depth', max: metadataDepthMax });
  }
  const bytes = new TextEncoder().encode(JSON.stringify(metadata)).length;
  if (bytes > metadataBytesMax) {
    throw invalid({ key: 'metadata', limit: 'bytes', max: metadataBytesMax, value: bytes });
  }
}

/** Each object and array is a level. Stops at the first value that is too deep. */
function deeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => deeperThan(levels - 1, inner));
}

const invalid = (details: JsonObject): OpenwopError => new OpenwopError('validation_error', { details });
