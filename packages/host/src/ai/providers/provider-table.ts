/** All providers of this host: the known ones, those that the operator configured, and Ollama. Pure. */
import {
  type FamilyName,
  KNOWN_PROVIDERS,
  knownModel,
  knownProvider,
  type Modality,
  modelsOf,
  type Price,
  type Task,
  tokenPrice,
} from '@gantry/ai';
import { DEFAULT_TENANT } from '@gantry/http';
import { given } from '@gantry/protocol';
import type { AiConfig, Endpoint } from './config.ts';

export interface Provider {
  readonly id: string;
  readonly family: FamilyName;
  readonly baseUrl: string;
  /** The operator configured its address: it is allowed by its origin, and never shown. */
  readonly selfHosted: boolean;
  /** `credential`: the ref in its configuration; `none`: it needs no key. */
  readonly key: 'usual' | 'none' | { readonly credential: string };
  /** The only ids that may be used; any if missing. */
  readonly models?: readonly string[];
  readonly defaults: Partial<Record<Task, string>>;
  readonly modalities: readonly Modality[];
  readonly limits: Pick<Endpoint, 'contextTokens' | 'outputTokens'>;
  readonly price?: Price;
  readonly tenants: readonly string[] | '*';
  /** Its list of models is at `/api/tags`. */
  readonly isOllama?: true;
}

export const OLLAMA = 'ollama';
const OLLAMA_USUAL = 'http://127.0.0.1:11434';
const FREE: Price = { input: 0, output: 0 };

export function providerTable(
  config: AiConfig,
  ollamaHost: string | undefined,
): ReadonlyMap<string, Provider> {
  const known = KNOWN_PROVIDERS.map(
    ({ id, family, baseUrl, defaults, modalities }): Provider => ({
      id,
      family,
      baseUrl,
      selfHosted: false,
      key: 'usual',
      defaults,
      modalities,
      limits: {},
      tenants: '*',
    }),
  );
  const ollama: Provider = {
    id: OLLAMA,
    family: 'openai-compatible',
    baseUrl: `${ollamaOrigin(ollamaHost)}/v1`,
    selfHosted: true,
    key: 'none',
    defaults: {},
    modalities: ['text', 'image'],
    limits: {},
    price: FREE,
    tenants: [DEFAULT_TENANT],
    isOllama: true,
  };
  const all = [...known, ollama, ...config.endpoints.map(endpointOf)];
  return new Map(all.map((provider) => [provider.id, provider]));
}

/** An endpoint with the id of a known provider replaces it, for example a gateway. */
function endpointOf(endpoint: Endpoint): Provider {
  const {
    id,
    url,
    models,
    embeddingModels = [],
    rerankModels = [],
    upscaleModels = [],
    credential,
    modalities,
    contextTokens,
    outputTokens,
  } = endpoint;
  const standIn = knownProvider(id);
  const family = endpoint.family ?? standIn?.family ?? 'openai-compatible';
  const [chat] = models ?? [];
  const every = models && [...models, ...embeddingModels, ...rerankModels, ...upscaleModels];
  return {
    id,
    family,
    baseUrl: url.replace(/\/+$/, ''),
    selfHosted: true,
    key: credential !== undefined ? { credential } : standIn ? 'usual' : 'none',
    ...(every && { models: every }),
    defaults: {
      ...served(standIn?.defaults ?? {}, every),
      ...given({ chat, search: chat }),
      ...given({ embedding: embeddingModels[0], rerank: rerankModels[0], upscale: upscaleModels[0] }),
    },
    modalities: modalities
      ? ['text', ...modalities.filter((one) => one !== 'text')]
      : (standIn?.modalities ?? ['text']),
    limits: given({ contextTokens, outputTokens }),
    ...(endpoint.price && { price: tokenPrice(endpoint.price) }),
    tenants: endpoint.tenants?.includes('*') ? '*' : (endpoint.tenants ?? [DEFAULT_TENANT]),
  };
}

const served = (defaults: Provider['defaults'], models: Provider['models']): Provider['defaults'] =>
  Object.fromEntries(Object.entries(defaults).filter(([, model]) => models?.includes(model) ?? true));

/** Parsed like Ollama does: an address, a port, or both, with or without a scheme; 0.0.0.0 is this machine. */
export function ollamaOrigin(text: string | undefined): string {
  if (!text) return OLLAMA_USUAL;
  const hasScheme = /^https?:\/\//.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`);
  if (!url) return OLLAMA_USUAL;
  const host = url.hostname === '0.0.0.0' || url.hostname === '[::]' ? '127.0.0.1' : url.hostname;
  const port = url.port || (hasScheme ? '' : '11434');
  return `${url.protocol}//${host}${port && `:${port}`}`;
}

export const mayUse = ({ tenants }: Provider, tenant: string): boolean =>
  tenants === '*' || tenants.includes(tenant);

export interface ModelFacts {
  /** Null if unknown: a cost limit cannot be enforced then. */
  readonly price: Price | null;
  readonly outputTokensMax: number;
  readonly contextTokens?: number;
  readonly modalities: readonly Modality[];
  /** As `requiredModelCapabilities` names them. */
  readonly capabilities: readonly string[];
}

const OUTPUT_TOKENS_MAX = 8_192;
/** Assumed for models without a description, of providers whose models all have them. */
const USUAL = ['structured-output', 'function-calling'];

export function modelFacts(provider: Provider, model: string, prices: AiConfig['prices']): ModelFacts {
  const known = knownModel(provider.id, model);
  const configured = prices[`${provider.id}/${model}`];
  const price = configured ?? known?.price;
  const contextTokens = provider.limits.contextTokens ?? known?.contextTokens;
  return {
    price: price ? tokenPrice(price) : (provider.price ?? null),
    outputTokensMax: provider.limits.outputTokens ?? known?.outputTokens ?? OUTPUT_TOKENS_MAX,
    ...(contextTokens !== undefined && { contextTokens }),
    modalities: known?.modalities ?? provider.modalities,
    capabilities: known?.capabilities ?? (provider.selfHosted ? [] : USUAL),
  };
}

/** The ids that are known without a request. */
export const listedModels = ({ id, models }: Provider): readonly string[] =>
  models ?? modelsOf(id).map((model) => model.id);
