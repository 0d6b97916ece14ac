/** Where model calls of nodes get their model: from a script that was named, else from a provider of the tenant. */
import { type ChatModel, isScripted, ModelFailure } from '@gantry/ai';
import { ownerOf } from '@gantry/protocol';
import { type ChosenModel, type ModelSource, scriptedSource } from '../model-source.ts';
import type { ChosenProvider, Providers } from './providers.ts';

export const modelSource = (providers: Pick<Providers, 'choose'>): ModelSource => ({
  async choose(query) {
    const { provider, model, credentialRef, configurable } = query;
    const isMock = configurable.mockProvider !== undefined;
    if (isMock || (provider !== undefined && isScripted(provider))) return scriptedSource.choose(query);
    const chosen = await providers.choose({ owner: ownerOf(query.owner), provider, model, credentialRef });
    return { ...chosen, chat: () => chatOf(chosen), streams: 'merged' } satisfies ChosenModel;
  },
});

/** Its library is loaded with the first request. A rejected key is told with the credential to fix. */
const chatOf = ({ family, credentialRef }: ChosenProvider): ChatModel => ({
  async *stream(request, reach) {
    try {
      yield* (await family()).chat.stream(request, reach);
    } catch (error) {
      throw namingKey(error, credentialRef);
    }
  },
});

export function namingKey(error: unknown, ref: string | undefined): unknown {
  if (!(error instanceof ModelFailure) || error.kind !== 'key-rejected' || ref === undefined) return error;
  const next = `Replace the value of the credential ${ref} with: gantry credentials rotate ${ref}`;
  return new ModelFailure(error.kind, `${error.message} ${next}`, error);
}
