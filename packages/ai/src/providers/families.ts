/** The families of providers. Their libraries take 100 ms and 20 MB, so each is loaded on first use. */
import type { ProviderFamily } from '../model.ts';

export type FamilyName = 'anthropic' | 'openai' | 'google' | 'openai-compatible';

/** Families that cache the prefix of a prompt on request, and report the tokens read from it. */
export const PREFIX_FAMILIES: readonly FamilyName[] = ['anthropic', 'openai'];

const LOAD: Record<FamilyName, () => Promise<ProviderFamily>> = {
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
  openai: async () => (await import('./openai.ts')).openai,
  google: async () => (await import('./google.ts')).google,
  'openai-compatible': async () => (await import('./openai-compatible.ts')).openaiCompatible,
};

export const loadFamily = (name: FamilyName): Promise<ProviderFamily> => LOAD[name]();
