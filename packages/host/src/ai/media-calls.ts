/** Calls of models whose answer is no text that arrives piece by piece. */
import { type EmbedRequest, estimateTokens, type ProviderFamily, type Reach, type Usage } from '@gantry/ai';
import type { Json } from '@gantry/protocol';
import type { ChosenModel } from './model-source.ts';
import type { PlannedCall } from './planned-call.ts';

interface Terms extends Partial<Pick<PlannedCall, 'outputTokens' | 'fails'>> {
  readonly inputTokens: number;
}

interface Answered {
  readonly answer: Json;
  readonly usage?: Usage | undefined;
}

function wholeCall(
  chosen: ChosenModel,
  { inputTokens, outputTokens = 0, ...terms }: Terms,
  ask: (family: ProviderFamily, reach: Reach) => Promise<Answered>,
): PlannedCall {
  const { provider, model, credentialRef, price } = chosen;
  const estimated: Usage = { inputTokens, outputTokens, estimated: true };
  return {
    ...terms,
    provider,
    model,
    credentialRef,
    price,
    streams: null,
    inputTokens,
    outputTokens,
    usageOf: () => estimated,
    async attempt({ asked, ...io }) {
      const { usage = estimated, ...answered } = await ask(await chosen.family(asked), chosen.reach(io));
      return { ...answered, usage };
    },
  };
}

const tokensOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + estimateTokens(text), 0);

export type Embedded = { readonly embeddings: readonly (readonly number[])[] };

export const embedCall = (ask: Omit<EmbedRequest, 'model'>, chosen: ChosenModel): PlannedCall =>
  wholeCall(chosen, { inputTokens: tokensOf(ask.values) }, async (family, reach) => {
    const { embeddings, inputTokens } = await family.embed!({ ...ask, model: chosen.model }, reach);
    const answer = { embeddings: embeddings.map((vector) => [...vector]) };
    return { answer, usage: inputTokens === undefined ? undefined : { inputTokens, outputTokens: 0 } };
  });
