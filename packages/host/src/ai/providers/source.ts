/** Where model calls of nodes get their model: from a script that was named, else from a provider of the tenant. */
import { isScripted } from '@gantry/ai';
import { ownerOf } from '@gantry/protocol';
import { type ChosenModel, type ModelSource, scriptedSource } from '../model-source.ts';
import type { Providers } from './providers.ts';

export const modelSource = (providers: Pick<Providers, 'choose'>): ModelSource => ({
  async choose(query) {
    const { owner, configurable, turn: _, ...named } = query;
    const provider = named.provider ?? named.prefers?.provider;
    const isMock = configurable.mockProvider !== undefined;
    if (isMock || (provider !== undefined && isScripted(provider))) return scriptedSource.choose(query);
    const chosen = await providers.choose({ ...named, owner: ownerOf(owner) });
    return { ...chosen, streams: 'merged' } satisfies ChosenModel;
  },
});
