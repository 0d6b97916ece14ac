/**
 * Videos of Gemini's API. The library sends the request, but polling is done here: the library reports an answer
 * without videos as an error text that quotes all of it, and puts the key into addresses.
 */
import type { Experimental_VideoModelV4 as VideoModelV4 } from '@ai-sdk/provider';
import type { JsonObject } from '@gantry/protocol';
import { ModelFailure, type Reach, type VideoModel, type VideoStatus } from '../model.ts';
import type { Make } from './media.ts';
import { asked, KEY_PLACEHOLDER, transportOf } from './transport.ts';
import { videoOf } from './video-facts.ts';

const RESOLUTIONS = [
  { lines: 720, size: '1280x720' },
  { lines: 1080, size: '1920x1080' },
] as const;

export function videoModel(make: Make<VideoModelV4>): VideoModel {
  return {
    async start(request, reach) {
      const { model, prompt, width = 1280, height = 720, negativePrompt, seed, image } = request;
      const transport = transportOf(reach);
      const lines = Math.min(width, height);
      const { size } = RESOLUTIONS.findLast((one) => one.lines <= lines) ?? RESOLUTIONS[0];
      const { operation } = await asked(reach, transport, async () => {
        const one = make(model, reach, transport.fetch);
        if (!one.doStart) throw new ModelFailure('rejected', 'The provider makes no videos with this model.');
        return one.doStart({
          prompt,
          n: 1,
          aspectRatio: width >= height ? '16:9' : '9:16',
          resolution: size,
          duration: request.durationSeconds,
          seed,
          generateAudio: request.includeAudio,
          fps: undefined,
          image: image && { type: 'file', mediaType: image.mimeType, data: image.data },
          frameImages: undefined,
          inputReferences: undefined,
          providerOptions: negativePrompt === undefined ? {} : { google: { negativePrompt } },
          abortSignal: reach.signal,
        });
      });
      return { operation: operation as JsonObject };
    },
    async status({ operationName }, reach) {
      const told = await getJson(`${reach.baseUrl}/${operationPath(operationName)}`, reach);
      if (told.done !== true) return { state: 'pending' };
      return endOf(told, reach);
    },
  };
}

/** The name comes from our own record, but is checked since it becomes part of a path. */
function operationPath(name: unknown): string {
  if (typeof name === 'string' && /^\w[\w.-]*(\/\w[\w.-]*){1,5}$/.test(name)) return name;
  throw new ModelFailure('rejected', 'This is no operation of the provider.');
}

interface Operation {
  readonly done?: boolean;
  readonly error?: { readonly code?: number; readonly message?: string };
  readonly response?: {
    readonly generateVideoResponse?: {
      readonly generatedSamples?: readonly { readonly video?: { readonly uri?: string } }[];
      readonly raiMediaFilteredCount?: number;
    };
  };
}

/** One of the codes with which operations end. */
const CANCELLED = 1;

async function endOf({ error, response }: Operation, reach: Reach): Promise<VideoStatus> {
  if (error?.code === CANCELLED) return { state: 'cancelled' };
  if (error) return { state: 'failed', message: String(error.message ?? 'unknown').slice(0, 300) };
  const { generatedSamples = [], raiMediaFilteredCount = 0 } = response?.generateVideoResponse ?? {};
  const uri = generatedSamples[0]?.video?.uri;
  if (uri === undefined)
    return raiMediaFilteredCount > 0
      ? { state: 'filtered' }
      : { state: 'failed', message: 'The provider returned no video.' };
  // The key is only sent to the provider's own origin, and so is this request
  if (URL.parse(uri)?.origin !== URL.parse(reach.baseUrl)?.origin)
    return { state: 'failed', message: 'The video is not at the provider.' };
  const { body, type } = await get(uri, reach);
  return { state: 'done', video: videoOf(body, type.startsWith('video/') ? type : 'video/mp4') };
}

async function get(url: string, reach: Reach): Promise<{ readonly body: Uint8Array; readonly type: string }> {
  const transport = transportOf(reach);
  return asked(reach, transport, async () => {
    const answer = await transport.fetch(url, { headers: { 'x-goog-api-key': KEY_PLACEHOLDER } });
    return { body: await answer.bytes(), type: answer.headers.get('content-type') ?? '' };
  });
}

async function getJson(url: string, reach: Reach): Promise<Operation> {
  const { body } = await get(url, reach);
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new ModelFailure('broken', 'The provider sent an answer that cannot be read.');
  }
}
