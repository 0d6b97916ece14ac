/** Which model serves a call. */
import {
  isScripted,
  type Price,
  type ProviderFamily,
  type Reach,
  readScript,
  SCRIPTED_CAPABILITIES,
  type Script,
  scriptedFamily,
  streamTextScript,
  type Task,
} from '@gantry/ai';
import { invalid, isObject, type JsonObject, OpenwopError, type Owner } from '@gantry/protocol';
import type { ModelFacts } from './providers/provider-table.ts';
import type { Providers } from './providers/providers.ts';
import type { Io } from './providers/reach.ts';

/** Which model a call wants. */
export interface WantedModel {
  readonly task: Task;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly credentialRef?: string | undefined;
  /** The provider of the run: used if it supports the task. */
  readonly prefers?: { readonly provider: string; readonly credentialRef?: string | undefined } | undefined;
}

export interface ModelQuery extends WantedModel {
  readonly owner: Owner;
  /** Of the run. */
  readonly configurable: JsonObject;
  /** The number of earlier calls of the node. */
  readonly turn: number;
}

/** A model that may be called, with all known facts about it. */
export interface ChosenModel extends ModelFacts {
  readonly provider: string;
  readonly model: string;
  /** The credential that pays; undefined if no key is needed. */
  readonly credentialRef?: string | undefined;
  /** `asked`: the number of earlier requests of this call. The library is loaded at the first use. */
  family(asked: number): Promise<ProviderFamily>;
  /** Whether each piece of text is emitted separately. */
  readonly streams: 'merged' | 'each';
  /** Whether it honours `cachePrefixId`. */
  readonly keepsPrefixes: boolean;
  reach(io: Io): Reach;
}

export interface ModelSource {
  /** A refusal lists what is available, or how to get it. */
  choose(query: ModelQuery): Promise<ChosenModel>;
}

const OUTPUT_TOKENS_MAX = 8_192;
/** Converts a price per million tokens to one per token. */
const NANO_USD_PER_MILLIONTH = 1_000;
/** Costs at this price are counted exactly. */
export const USD_MAX = 10_000;
const FREE: Price = { input: 0, output: 0 };

/** From a script if it is named, else from a provider of the tenant. */
export const modelSource = (providers: Pick<Providers, 'choose'>): ModelSource => ({
  async choose(query) {
    const { owner, configurable, turn: _, ...wanted } = query;
    const provider = wanted.provider ?? wanted.prefers?.provider;
    const isMock = configurable.mockProvider !== undefined;
    if (isMock || (provider !== undefined && isScripted(provider))) return scriptedSource.choose(query);
    return providers.choose(owner, wanted);
  },
});

/** Served without a network, and only when named. */
export const scriptedSource: ModelSource = {
  async choose({ provider, prefers, model, configurable, turn }) {
    const mock = mockOf(configurable);
    const named = mock?.id ?? provider ?? prefers?.provider;
    if (named === undefined || !isScripted(named)) throw noProvider(named);
    const script = mock ? streamText(mock.config) : scriptOf(configurable);
    return {
      provider: named,
      model: model ?? script?.[0]?.model ?? 'echo',
      family: async (asked) => scriptedFamily({ ...(script && { script }), turn: turn + asked }),
      price: priceIn(configurable),
      outputTokensMax: OUTPUT_TOKENS_MAX,
      modalities: ['text'],
      capabilities: SCRIPTED_CAPABILITIES,
      streams: 'each',
      keepsPrefixes: false,
      reach({ signal, idempotencyKey, onSend }) {
        onSend?.();
        const fetch = () => Promise.reject(new Error('A script has no network'));
        return { signal, idempotencyKey, baseUrl: '', fetch };
      },
    };
  },
};

/** A script may have a price, in US dollars per million tokens, to try budgets without a key. */
function priceIn({ ai }: JsonObject): Price {
  const price = isObject(ai) ? ai.price : undefined;
  if (!isObject(price)) return FREE;
  const { input = 0, output = 0 } = price;
  if (![input, output].every((usd) => typeof usd === 'number' && usd >= 0 && usd <= USD_MAX))
    throw invalid(
      `configurable.ai.price must have \`input\` and \`output\`, from 0 to ${USD_MAX} US dollars for a million tokens.`,
    );
  return { input: Number(input) * NANO_USD_PER_MILLIONTH, output: Number(output) * NANO_USD_PER_MILLIONTH };
}

function mockOf({ mockProvider }: JsonObject): { id: string; config: JsonObject } | null {
  if (!isObject(mockProvider)) return null;
  const { id, config } = mockProvider;
  return typeof id === 'string' ? { id, config: (config ?? {}) as JsonObject } : null;
}

function scriptOf({ ai }: JsonObject): Script | undefined {
  if (!isObject(ai) || ai.script === undefined) return undefined;
  return scriptIn(readScript(ai.script), 'configurable.ai.script');
}

const streamText = (config: JsonObject): Script =>
  scriptIn(streamTextScript(config), 'configurable.mockProvider.config');

function scriptIn(read: ReturnType<typeof readScript>, where: string): Script {
  if ('script' in read) return read.script;
  const [first] = read.problems;
  throw invalid(
    `${where} is not a script: ${first ? `${first.field || '/'} ${first.problem}` : 'see the docs'}.`,
  );
}

export const noProvider = (
  named: string | undefined,
  known: readonly string[] = ['scripted'],
): OpenwopError =>
  named === undefined
    ? new OpenwopError('provider_unavailable', {
        message:
          'The tenant has no model provider. Add a key with `gantry credentials`, start Ollama, or name the provider ' +
          '"scripted" to try it without one; `gantry ai providers` lists what there is.',
      })
    : new OpenwopError('provider_not_supported', {
        message: `This host has no model provider "${named}". It has: ${known.join(', ')}.`,
        details: { providers: [...known] },
      });
