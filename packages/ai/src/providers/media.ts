/** Embeddings, images and speech over the models of the libraries. Media are passed as bytes. */
import type {
  EmbeddingModelV4,
  ImageModelV4,
  ImageModelV4File,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider';
import { given } from '@gantry/protocol';
import {
  type ImageAnswer,
  type ImageRequest,
  type Media,
  type MediaPart,
  ModelFailure,
  type ProviderFamily,
  type Reach,
} from '../model.ts';
import { isCount, reportedCount } from '../reported.ts';
import { imageOf } from './image-facts.ts';
import { asked, type TransportTerms, transportOf } from './transport.ts';

/** Creates a model that sends its requests with this fetch. */
export type Make<M> = (id: string, reach: Reach, fetch: typeof globalThis.fetch) => M;

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data, 'base64') : data;

function made<M, T>(
  make: Make<M>,
  id: string,
  reach: Reach,
  act: (model: M) => PromiseLike<T>,
  terms?: TransportTerms,
): Promise<T> {
  const transport = transportOf(reach, terms);
  return asked(reach, transport, async () => act(make(id, reach, transport.fetch)));
}

export function embedding(make: Make<EmbeddingModelV4>): NonNullable<ProviderFamily['embed']> {
  return async ({ model, values, dimensions }, reach) => {
    const embed = (one: EmbeddingModelV4) =>
      one.doEmbed({ values: [...values], abortSignal: reach.signal, ...given({ dimensions }) });
    const answer = await made(make, model, reach, embed, { isQuick: true });
    if (answer.embeddings.length !== values.length)
      throw new ModelFailure('broken', 'The provider sent another number of embeddings than was asked for.');
    const { embeddings, usage } = answer;
    // JSON has no infinity, but 1e999 is read as one
    if (!embeddings.every((vector) => vector.every(Number.isFinite)))
      throw new ModelFailure('broken', 'The provider sent an embedding that is not a list of numbers.');
    return { embeddings, ...given({ inputTokens: reportedCount(usage?.tokens) }) };
  };
}

/** How the family expresses width and height. */
type Shape = (
  request: ImageRequest,
) => Pick<Parameters<ImageModelV4['doGenerate']>[0], 'size' | 'aspectRatio'>;

/** Codes with which a provider reports that it withheld all images. */
const WITHHELD: ReadonlySet<string> = new Set([
  'moderation_blocked',
  'content_policy_violation',
  'image_generation_user_error',
]);

export function images(make: Make<ImageModelV4>, shape: Shape): NonNullable<ProviderFamily['image']> {
  return async (request, reach) => {
    const got: Media[] = [];
    let inputTokens = 0;
    let outputTokens = 0;
    let filtered = 0;
    for (let left = request.count, call = 1; left > 0; call++) {
      const idempotencyKey = call === 1 ? reach.idempotencyKey : `${reach.idempotencyKey}.${call}`;
      const at = { ...reach, idempotencyKey };
      const part = oneCall(make, shape, { ...request, count: left }, at);
      const { asked: count, ...answer } = await (call === 1 ? part : part.catch(afterServed));
      got.push(...answer.images);
      filtered += answer.filtered;
      inputTokens += answer.usage?.inputTokens ?? 0;
      outputTokens += answer.usage?.outputTokens ?? 0;
      left -= count;
    }
    const usage = inputTokens + outputTokens > 0 && { usage: { inputTokens, outputTokens } };
    return { images: got, filtered, ...usage };
  };
}

/** Earlier calls of the same request were served, so the whole request is not free. */
function afterServed(error: unknown): never {
  if (!(error instanceof ModelFailure)) throw error;
  const { kind, message, status, code } = error;
  const canRepeat = kind === 'limited' || kind === 'not-sent';
  throw new ModelFailure(canRepeat ? 'broken' : kind, message, { status, code, served: true });
}

/** Some models create one image per call, others ten. */
async function oneCall(
  make: Make<ImageModelV4>,
  shape: Shape,
  request: ImageRequest,
  reach: Reach,
): Promise<ImageAnswer & { readonly asked: number }> {
  const { model, prompt, seed, images: given = [], mask } = request;
  let count = request.count;
  try {
    const answer = await made(make, model, reach, async (one) => {
      const { maxImagesPerCall: max } = one;
      const most = typeof max === 'function' ? await max({ modelId: model }) : max;
      count = Math.min(request.count, most ?? 1);
      return one.doGenerate({
        prompt,
        n: count,
        ...shape(request),
        seed,
        files: given.length > 0 ? given.map(fileOf) : undefined,
        mask: mask && fileOf(mask),
        providerOptions: {},
        abortSignal: reach.signal,
      });
    });
    const kept = answer.images.map(bytesOf).filter(({ length }) => length > 0);
    const { inputTokens, outputTokens = 0 } = answer.usage ?? {};
    const usage = isCount(inputTokens) && isCount(outputTokens) && { inputTokens, outputTokens };
    return {
      asked: count,
      images: kept.map(imageOf),
      filtered: Math.max(0, count - kept.length),
      ...(usage && { usage }),
    };
  } catch (error) {
    if (error instanceof ModelFailure && WITHHELD.has(error.code ?? ''))
      return { asked: count, images: [], filtered: count };
    throw error;
  }
}

const fileOf = ({ mimeType: mediaType, data }: MediaPart): ImageModelV4File => ({
  type: 'file',
  mediaType,
  data,
});

export function speech(make: Make<SpeechModelV4>): NonNullable<ProviderFamily['speech']> {
  return async ({ model, text, voice, format, instructions, speed, language }, reach) => {
    const { audio } = await made(make, model, reach, (one) =>
      one.doGenerate({
        text,
        abortSignal: reach.signal,
        ...given({ voice, outputFormat: format, instructions, speed, language }),
      }),
    );
    const data = bytesOf(audio);
    return { data, mimeType: audioType(data) };
  };
}

function audioType(data: Uint8Array): string {
  const start = Buffer.from(data.subarray(0, 4)).toString('latin1');
  if (start === 'RIFF') return 'audio/wav';
  return start === 'OggS' ? 'audio/ogg' : 'audio/mpeg';
}

export function transcription(make: Make<TranscriptionModelV4>): NonNullable<ProviderFamily['transcribe']> {
  return async ({ model, audio, language }, reach) => {
    const answer = await made(make, model, reach, (one) =>
      one.doGenerate({
        audio: audio.data,
        mediaType: audio.mimeType,
        abortSignal: reach.signal,
        ...(language !== undefined && { providerOptions: { openai: { language } } }),
      }),
    );
    const { segments, durationInSeconds: durationSeconds } = answer;
    return {
      text: answer.text,
      segments: segments.map(({ text, startSecond: from, endSecond: to }) => ({ text, from, to })),
      ...given({ language: answer.language, durationSeconds }),
    };
  };
}
