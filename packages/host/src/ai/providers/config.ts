/** The file that the setting `GANTRY_AI` names: endpoints of the operator, policies, prices and the default model. */
import { readFileSync } from 'node:fs';
import { type FamilyName, knownProvider, type ListPrice, type Modality } from '@gantry/ai';
import { SettingsError } from '@gantry/http';
import { closedObject, optional, problemsIn } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/schema';
import { USD_MAX } from '../model-source.ts';

const Name = Type.String({ minLength: 1, maxLength: 128 });
const Names = Type.Array(Name, { maxItems: 1_000 });
const Dollars = Type.Number({ minimum: 0, maximum: USD_MAX });
const Price = closedObject({
  input: Dollars,
  output: Dollars,
  cacheRead: optional(Dollars),
  cacheWrite: optional(Dollars),
  each: optional(Dollars),
});
const FAMILIES = ['anthropic', 'openai', 'google', 'openai-compatible'] satisfies FamilyName[];
const MODALITIES = ['text', 'image', 'audio', 'document'] satisfies Modality[];
/** An id is public, so it must not look like an address. */
const EndpointId = Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' });
const Tokens = Type.Integer({ minimum: 256, maximum: 100_000_000 });

const Endpoint = closedObject({
  id: EndpointId,
  url: Type.String({ pattern: '^https?://[^\\s@]{1,2000}$' }),
  family: optional(Type.Enum(FAMILIES)),
  /** The ids that may be used; all if missing. The first is the default. */
  models: optional(Names),
  embeddingModels: optional(Names),
  /** Its server has `/rerank`. */
  rerankModels: optional(Names),
  /** They enlarge a given image, at `/images/edits`. */
  upscaleModels: optional(Names),
  /** A credential of the calling tenant. */
  credential: optional(Name),
  modalities: optional(Type.Array(Type.Enum(MODALITIES), { uniqueItems: true })),
  contextTokens: optional(Tokens),
  outputTokens: optional(Tokens),
  price: optional(Price),
  /** Tenants that may use it; `default` if missing, all with `*`. */
  tenants: optional(Names),
});

const MODES = ['disabled', 'optional', 'required', 'restricted'] as const;
const Policy = closedObject({
  provider: Name,
  tenant: optional(Name),
  mode: Type.Enum([...MODES]),
  allowedModels: optional(Names),
});

const AiConfig = closedObject({
  default: optional(closedObject({ provider: Name, model: optional(Name) })),
  endpoints: optional(Type.Array(Endpoint, { maxItems: 100 })),
  policies: optional(Type.Array(Policy, { maxItems: 10_000 })),
  /** How long a node waits for a video. */
  videoWaitSeconds: optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
  /** How long a provider may say nothing before its answer counts as broken. */
  silenceSeconds: optional(Type.Integer({ minimum: 1, maximum: 900 })),
  /** By `provider/model`, in US dollars per million tokens, and for each unit that is made. */
  prices: optional(Type.Record(Type.String({ pattern: '^[^/]+/.+$' }), Price)),
});
type AiConfigFile = Static<typeof AiConfig>;

export type Endpoint = Static<typeof Endpoint>;
export type ProviderPolicy = Static<typeof Policy>;
export const POLICY_MODES = MODES;

export interface AiConfig {
  readonly default?: { readonly provider: string; readonly model?: string };
  readonly endpoints: readonly Endpoint[];
  readonly policies: readonly ProviderPolicy[];
  readonly prices: Readonly<Record<string, ListPrice>>;
  readonly videoWaitMs: number;
  readonly silenceMs: number;
}

const VIDEO_WAIT_SECONDS = 300;
const SILENCE_SECONDS = 60;
const COMPATIBLE = 'openai-compatible' satisfies FamilyName;

/** Throws `SettingsError` that names the place. */
export function readAiConfig(file: string | undefined): AiConfig {
  if (file === undefined) return checked({}, '');
  const value = jsonIn(file);
  const compiled = Compile(AiConfig);
  if (!compiled.Check(value)) {
    const [first] = problemsIn(compiled, value);
    throw new SettingsError(
      `GANTRY_AI: in ${file}, ${first?.field || 'the document'} ${first?.problem ?? 'cannot be read'}.`,
    );
  }
  return checked(value as AiConfigFile, file);
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new SettingsError(`GANTRY_AI: ${file} ${why}. See docs/ai.md for its form.`);
  }
}

function checked(
  {
    endpoints = [],
    policies = [],
    prices = {},
    videoWaitSeconds = VIDEO_WAIT_SECONDS,
    silenceSeconds = SILENCE_SECONDS,
    default: chosen,
  }: AiConfigFile,
  file: string,
): AiConfig {
  const ids = endpoints.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined)
    throw new SettingsError(`GANTRY_AI: in ${file}, two endpoints have the id ${twice}.`);
  const other = endpoints.find(
    ({ id, family = knownProvider(id)?.family ?? COMPATIBLE, rerankModels, upscaleModels }) =>
      family !== COMPATIBLE && (rerankModels ?? upscaleModels) !== undefined,
  );
  if (other)
    throw new SettingsError(
      `GANTRY_AI: in ${file}, the endpoint ${other.id} has rerankModels or upscaleModels, which only the family ${COMPATIBLE} serves.`,
    );
  const named = [
    ...policies.map(({ provider }) => provider),
    ...(chosen ? [chosen.provider] : []),
    ...Object.keys(prices).map((model) => model.slice(0, model.indexOf('/'))),
  ];
  const unknown = named.find((name) => !ids.includes(name) && name !== 'ollama' && !knownProvider(name));
  if (unknown !== undefined)
    throw new SettingsError(
      `GANTRY_AI: ${file} names the provider ${unknown}, which is neither known nor one of its endpoints.`,
    );
  const times = { videoWaitMs: videoWaitSeconds * 1_000, silenceMs: silenceSeconds * 1_000 };
  return { endpoints, policies, prices, ...times, ...(chosen && { default: chosen }) };
}
