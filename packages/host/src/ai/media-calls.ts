/** Calls of models whose answer is not streamed text. */
import {
  type EmbedRequest,
  estimateTokens,
  type ImageRequest,
  type Media,
  type ModelFailure,
  type ProviderFamily,
  type Reach,
  type RerankAnswer,
  type RerankRequest,
  TOKENS_PER_IMAGE,
  type Usage,
} from '@gantry/ai';
import type { ErrorCode, Json } from '@gantry/protocol';
import type { ChosenModel } from './model-source.ts';
import type { PlannedCall } from './planned-call.ts';

interface Terms extends Partial<Pick<PlannedCall, 'outputTokens' | 'units' | 'fails' | 'once' | 'goesOn'>> {
  readonly inputTokens: number;
}

interface Answered {
  readonly answer: Json;
  readonly media?: readonly Media[];
  readonly usage?: Usage | undefined;
}

export function wholeCall(
  chosen: ChosenModel,
  { inputTokens, outputTokens = 0, ...terms }: Terms,
  ask: (family: ProviderFamily, reach: Reach) => Promise<Answered>,
): PlannedCall {
  const { provider, model, credentialRef, price } = chosen;
  const estimated: Usage = { inputTokens, outputTokens: 0, estimated: true };
  return {
    ...terms,
    provider,
    model,
    credentialRef,
    price,
    streams: null,
    inputTokens,
    outputTokens,
    outputTokensMin: outputTokens,
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

export type Reranked = Pick<RerankAnswer, 'results'>;

/** The price per unit is for one request. */
export const rerankCall = (ask: Omit<RerankRequest, 'model'>, chosen: ChosenModel): PlannedCall =>
  wholeCall(
    chosen,
    { inputTokens: tokensOf([ask.query, ...ask.documents]), units: 1 },
    async (family, reach) => {
      const { results, inputTokens } = await family.rerank!({ ...ask, model: chosen.model }, reach);
      const answer = { results: results.map((result) => ({ ...result })) };
      return { answer, usage: inputTokens === undefined ? undefined : { inputTokens, outputTokens: 0 } };
    },
  );

/** A request that the provider could not serve; keys, models, limits and lengths keep their own codes. */
export const failing =
  (code: ErrorCode) =>
  ({ kind }: ModelFailure): ErrorCode | undefined =>
    kind === 'broken' || kind === 'rejected' ? code : undefined;

export type Pictured = { readonly filtered: number };

export function imageCall(ask: Omit<ImageRequest, 'model'>, chosen: ChosenModel): PlannedCall {
  const { images: given = [], mask } = ask;
  const seen = given.length + (mask ? 1 : 0);
  const terms: Terms = {
    inputTokens: estimateTokens(ask.prompt) + seen * TOKENS_PER_IMAGE,
    outputTokens: ask.count * TOKENS_PER_IMAGE,
    units: ask.count,
    fails: failing('image_generation_failed'),
  };
  return wholeCall(chosen, terms, async (family, reach) => {
    const { images, filtered, usage } = await family.image!({ ...ask, model: chosen.model }, reach);
    return { answer: { filtered }, media: images, usage };
  });
}
