/**
 * Models and list prices as published by their providers in November 2026, in US dollars per million tokens of
 * plain requests. Those of images, speech and video are older, from 2025. `each` is the price of one output unit,
 * for chat models of one web search. Surcharges for very long prompts are not included. The setting `GANTRY_AI`
 * names a file with newer prices.
 */
import { given } from '@gantry/protocol';
import type { Modality } from '../model.ts';
import type { KnownModel, ListPrice } from './models.ts';

const ALL = ['structured-output', 'discriminator-enum', 'long-context', 'reasoning', 'function-calling'];
const PLAIN = ['structured-output', 'discriminator-enum', 'function-calling'];
const SEES: readonly Modality[] = ['text', 'image', 'document'];
const HEARS: readonly Modality[] = ['text', 'image', 'audio', 'document'];

type Figures = readonly [input: number, output: number, cacheRead: number, cacheWrite?: number];
type Facts = Required<Pick<KnownModel, 'contextTokens' | 'outputTokens' | 'modalities' | 'capabilities'>>;

/** Chat models, with the common facts of their provider. `search` is the price of one web search. */
const chats =
  (provider: string, search: number, common: Facts) =>
  (id: string, figures: Figures, own: Partial<Facts> = {}): KnownModel => {
    const [input, output, cacheRead, cacheWrite] = figures;
    const price = { input, output, cacheRead, ...given({ cacheWrite }), each: search };
    return { provider, id, ...common, ...own, price };
  };

const claude = chats('anthropic', 0.01, {
  contextTokens: 1_000_000,
  outputTokens: 128_000,
  modalities: SEES,
  capabilities: ALL,
});
const gpt = chats('openai', 0.01, {
  contextTokens: 1_050_000,
  outputTokens: 128_000,
  modalities: SEES,
  capabilities: ALL,
});
const gemini = chats('gemini', 0.035, {
  contextTokens: 1_048_576,
  outputTokens: 65_536,
  modalities: HEARS,
  capabilities: ALL,
});

const CLAUDE_4 = { contextTokens: 200_000, outputTokens: 64_000 };
const GPT_4_1 = { contextTokens: 1_047_576, outputTokens: 32_768, capabilities: [...PLAIN, 'long-context'] };
const GPT_4O = { contextTokens: 128_000, outputTokens: 16_384, capabilities: PLAIN };
const GPT_5 = { contextTokens: 400_000 };

const embedding = (provider: string, id: string, input: number, contextTokens: number): KnownModel => ({
  provider,
  id,
  contextTokens,
  modalities: ['text'],
  capabilities: ['embeddings'],
  price: { input, output: 0 },
});

const media = (provider: string, id: string, price: ListPrice): KnownModel => ({
  provider,
  id,
  modalities: ['text'],
  capabilities: [],
  price,
});

export const MODELS: readonly KnownModel[] = [
  claude('claude-fable-5-1', [10, 50, 0.25, 12.5]),
  claude('claude-fable-5', [10, 50, 1, 12.5]),
  claude('claude-opus-5-5', [4, 20, 0.2, 5]),
  claude('claude-opus-5', [5, 25, 0.5, 6.25]),
  claude('claude-opus-4-8', [5, 25, 0.5, 6.25]),
  claude('claude-opus-4-7', [5, 25, 0.5, 6.25]),
  claude('claude-opus-4-6', [5, 25, 0.5, 6.25], { contextTokens: 200_000 }),
  claude('claude-opus-4-5', [5, 25, 0.5, 6.25], CLAUDE_4),
  claude('claude-sonnet-5-5', [2, 10, 0.1, 2.5]),
  claude('claude-sonnet-5', [2, 10, 0.2, 2.5]),
  claude('claude-sonnet-4-6', [3, 15, 0.3, 3.75], CLAUDE_4),
  claude('claude-sonnet-4-5', [3, 15, 0.3, 3.75], CLAUDE_4),
  // The prices for prompts over 100,000 tokens, 0.50 and 2.50: a cost limit must hold for these too.
  claude('claude-haiku-5-5', [0.5, 2.5, 0.05, 0.625]),
  claude('claude-haiku-4-5', [1, 5, 0.1, 1.25], CLAUDE_4),
  gpt('gpt-6-astra', [10, 50, 1, 12.5]),
  gpt('gpt-6.1-sol', [2, 10, 0.1, 2.5]),
  gpt('gpt-6-sol', [2, 10, 0.2, 2.5]),
  gpt('gpt-6-luna', [0.1, 0.5, 0.01, 0.125]),
  gpt('gpt-5.6-sol', [4, 20, 0.4]),
  gpt('gpt-5.6-terra', [2, 12, 0.2]),
  gpt('gpt-5.6-luna', [0.2, 1.2, 0.02]),
  gpt('gpt-5.5', [5, 30, 0.5]),
  gpt('gpt-5.4', [2.5, 15, 0.25]),
  gpt('gpt-5.4-mini', [0.75, 4.5, 0.075], GPT_5),
  gpt('gpt-5', [1.25, 10, 0.125], GPT_5),
  gpt('gpt-5-mini', [0.25, 2, 0.025], GPT_5),
  gpt('gpt-5-nano', [0.05, 0.4, 0.005], GPT_5),
  gpt('gpt-4.1', [2, 8, 0.5], GPT_4_1),
  gpt('gpt-4.1-mini', [0.4, 1.6, 0.1], GPT_4_1),
  gpt('gpt-4.1-nano', [0.1, 0.4, 0.025], GPT_4_1),
  gpt('gpt-4o', [2.5, 10, 1.25], GPT_4O),
  gpt('gpt-4o-mini', [0.15, 0.6, 0.075], GPT_4O),
  embedding('openai', 'text-embedding-3-small', 0.02, 8_191),
  embedding('openai', 'text-embedding-3-large', 0.13, 8_191),
  media('openai', 'gpt-image-1', { input: 10, output: 40 }),
  // Sound is charged by duration, which is not known in advance: about a minute per 1,000 characters.
  media('openai', 'gpt-4o-mini-tts', { input: 0.6, output: 0, each: 0.02 }),
  media('openai', 'gpt-4o-transcribe', { input: 6, output: 10 }),
  media('openai', 'gpt-4o-mini-transcribe', { input: 3, output: 5 }),
  // The price from December on; until then it is half of this.
  gemini('gemini-4-argon', [4, 20, 0.4]),
  gemini('gemini-4-carbon', [4, 20, 0.4]),
  gemini('gemini-2.5-pro', [2.5, 15, 0.25]),
  gemini('gemini-2.5-flash', [0.3, 2.5, 0.03]),
  gemini('gemini-2.5-flash-lite', [0.1, 0.4, 0.01]),
  embedding('gemini', 'gemini-embedding-001', 0.15, 2_048),
  media('gemini', 'gemini-2.5-flash-image', { input: 0.3, output: 0, each: 0.039 }),
  media('gemini', 'gemini-2.5-flash-preview-tts', { input: 0.5, output: 0, each: 0.02 }),
  media('gemini', 'veo-3.0-generate-001', { input: 0, output: 0, each: 0.4 }),
];
