/** Calls of models whose answer is no text that arrives piece by piece. */
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
  SOUND_BYTES_PER_TOKEN,
  type SpeechRequest,
  TOKENS_PER_IMAGE,
  type TranscriptionAnswer,
  type TranscriptionRequest,
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

/** A price for each is for one request. */
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

const CHARACTERS_PER_UNIT = 1_000;

export const speechCall = (ask: Omit<SpeechRequest, 'model'>, chosen: ChosenModel): PlannedCall =>
  wholeCall(
    chosen,
    {
      inputTokens: estimateTokens(ask.text),
      units: ask.text.length / CHARACTERS_PER_UNIT,
      fails: failing('speech_synthesis_failed'),
    },
    async (family, reach) => {
      const audio = await family.speech!({ ...ask, model: chosen.model }, reach);
      return { answer: null, media: [audio] };
    },
  );

/** Words take less room than the sound of them. */
export function transcriptionCall(
  ask: Omit<TranscriptionRequest, 'model'>,
  chosen: ChosenModel,
): PlannedCall {
  const inputTokens = Math.ceil(ask.audio.data.byteLength / SOUND_BYTES_PER_TOKEN);
  return wholeCall(chosen, { inputTokens, outputTokens: inputTokens }, async (family, reach) => {
    const heard = await family.transcribe!({ ...ask, model: chosen.model }, reach);
    const usage: Usage = { inputTokens, outputTokens: estimateTokens(heard.text), estimated: true };
    return { answer: JSON.parse(JSON.stringify(heard satisfies TranscriptionAnswer)), usage };
  });
}
