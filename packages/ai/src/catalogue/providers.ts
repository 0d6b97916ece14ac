/** The known providers: their addresses, how they accept a key, and their default models. */
import type { Modality } from '../model.ts';
import type { FamilyName } from '../providers/families.ts';

/** Tasks for models. */
export const TASKS = [
  'chat',
  'search',
  'embedding',
  'rerank',
  'image',
  'upscale',
  'speech',
  'transcription',
  'video',
] as const;
export type Task = (typeof TASKS)[number];

export interface KnownProvider {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly family: FamilyName;
  readonly baseUrl: string;
  /** Environment variables that usually contain a key for it. */
  readonly variables: readonly string[];
  /** For models that the catalogue does not list. */
  readonly modalities: readonly Modality[];
  readonly defaults: Partial<Record<Task, string>>;
}

/** How each family accepts a key. */
export const KEY_PLACES: Readonly<Record<FamilyName, { readonly header: string; readonly prefix: string }>> =
  {
    anthropic: { header: 'x-api-key', prefix: '' },
    google: { header: 'x-goog-api-key', prefix: '' },
    openai: { header: 'authorization', prefix: 'Bearer ' },
    'openai-compatible': { header: 'authorization', prefix: 'Bearer ' },
  };

const compatible = (id: string, baseUrl: string, variable: string, chat?: string): KnownProvider => ({
  id,
  family: 'openai-compatible',
  baseUrl,
  variables: [variable],
  modalities: ['text'],
  defaults: chat === undefined ? {} : { chat },
});

/** In the order of preference for a call that names none. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  {
    id: 'anthropic',
    family: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    variables: ['ANTHROPIC_API_KEY'],
    modalities: ['text', 'image', 'document'],
    defaults: { chat: 'claude-sonnet-5-5', search: 'claude-sonnet-5-5' },
  },
  {
    id: 'openai',
    family: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    variables: ['OPENAI_API_KEY'],
    modalities: ['text', 'image', 'document'],
    defaults: {
      chat: 'gpt-6.1-sol',
      search: 'gpt-6.1-sol',
      embedding: 'text-embedding-3-small',
      image: 'gpt-image-1',
      speech: 'gpt-4o-mini-tts',
      transcription: 'gpt-4o-mini-transcribe',
    },
  },
  {
    id: 'gemini',
    aliases: ['google'],
    family: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    variables: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_API_KEY'],
    modalities: ['text', 'image', 'audio', 'document'],
    defaults: {
      chat: 'gemini-2.5-flash',
      search: 'gemini-2.5-flash',
      embedding: 'gemini-embedding-001',
      image: 'gemini-2.5-flash-image',
      speech: 'gemini-2.5-flash-preview-tts',
      video: 'veo-3.0-generate-001',
    },
  },
  compatible('mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY', 'mistral-small-latest'),
  compatible('openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'openrouter/auto'),
  compatible('groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  compatible('deepseek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', 'deepseek-chat'),
  compatible('together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  compatible('xai', 'https://api.x.ai/v1', 'XAI_API_KEY'),
];

/** @example knownProvider('google')?.id // 'gemini' */
export const knownProvider = (name: string): KnownProvider | undefined =>
  KNOWN_PROVIDERS.find(({ id, aliases = [] }) => id === name || aliases.includes(name));
