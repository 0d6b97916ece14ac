/** Model calls of pack code other than chat, and the answers in the terms of the protocol. */
import { imageOf, type Media, type MediaPart } from '@gantry/ai';
import { given, invalid, type JsonObject, OpenwopError } from '@gantry/protocol';
import { decodeBase64, type ModelsPort, type WriteCall } from '@gantry/surfaces';
import type { Ai, Asked, Plan, Which } from './ai.ts';
import { NANO_USD } from './ledger.ts';
import {
  type Embedded,
  embedCall,
  imageCall,
  type Pictured,
  type Reranked,
  rerankCall,
} from './media-calls.ts';
import { webSearch } from './search-port.ts';
import { speechMethods } from './speech-port.ts';
import { videoGenerator } from './video-calls.ts';

type MediaMethods = Omit<ModelsPort, 'callAI' | 'callAIWithTools'>;

/** Dependencies of the methods: recorded calls, and the media that they made. */
export interface MediaDeps extends Pick<Ai, 'media'> {
  /** `series`: for a second step, other than that of all other calls. */
  ask<A>(call: WriteCall, which: Which, plan: Plan, series?: string): Promise<Asked<A>>;
  readonly videoWaitMs: number;
}

export const mediaMethods = (deps: MediaDeps): MediaMethods => ({
  callEmbeddings: embeddings(deps),
  callReranker: reranker(deps),
  callImageGenerator: imageGenerator(deps),
  callImageEditor: imageEditor(deps),
  callImageUpscaler: imageUpscaler(deps),
  ...speechMethods(deps),
  callVideoGenerator: videoGenerator(deps),
  webSearch: webSearch(deps),
});

const embeddings =
  ({ ask }: MediaDeps): MediaMethods['callEmbeddings'] =>
  async ({ values, dimensions, ...which }, call) => {
    const wanted = { values, ...(dimensions !== undefined && { dimensions }) };
    const asked = await ask<Embedded>(call, { task: 'embedding', ...which }, (chosen) =>
      embedCall(wanted, chosen),
    );
    const { answer, provider, model, usage } = asked;
    const vectors = answer.embeddings.map((vector) => [...vector]);
    const used = { inputTokens: usage.inputTokens, totalTokens: usage.inputTokens };
    return { embeddings: vectors, dimensions: vectors[0]?.length ?? 0, model, provider, usage: used };
  };

const reranker =
  ({ ask }: MediaDeps): MediaMethods['callReranker'] =>
  async ({ query, documents, topN = documents.length, ...which }, call) => {
    const { answer } = await ask<Reranked>(call, { task: 'rerank', ...which }, (chosen) =>
      rerankCall({ query, documents, topN }, chosen),
    );
    return {
      results: answer.results.map((result) => ({ ...result, document: documents[result.index] ?? '' })),
    };
  };

const imageGenerator =
  ({ ask, media }: MediaDeps): MediaMethods['callImageGenerator'] =>
  async ({ provider, model, credentialRef, count = 1, width, height, seed, ...wanted }, call) => {
    const which = { task: 'image', provider, model, credentialRef } as const;
    const asked = await ask<Pictured>(call, which, (chosen) =>
      imageCall({ prompt: promptOf(wanted), count, ...given({ width, height, seed }) }, chosen),
    );
    const { filtered } = seenBy(asked);
    const by = { model: asked.model, provider: asked.provider, generationTimeMs: asked.durationMs };
    const images = asked.media.map(async (made) => ({
      url: await media.urlOf(call.tenant, made),
      mediaRef: media.refOf(made),
      mimeType: made.mimeType,
      width: made.width ?? width ?? 0,
      height: made.height ?? height ?? 0,
      safetyFiltered: false,
      metadata: { ...by, ...given({ seed }) },
      ...given({ seed }),
    }));
    return { images: await Promise.all(images), filteredCount: filtered, ...costOf(asked) };
  };

const imageEditor =
  (deps: MediaDeps): MediaMethods['callImageEditor'] =>
  async ({ provider, model, credentialRef, op = 'edit', prompt = EDITS[op], ...given }, call) => {
    if (prompt === undefined) throw invalid(`The operation ${op} needs a prompt.`);
    const which = { task: 'image', provider, model, credentialRef } as const;
    const { imageBase64, maskBase64, mimeType = 'image/png' } = given;
    const picture = (text: string, member: string): MediaPart => ({
      type: 'image',
      mimeType,
      data: decodeBase64(text, member),
    });
    const images = [picture(imageBase64, 'imageBase64')];
    const mask = maskBase64 === undefined ? {} : { mask: picture(maskBase64, 'maskBase64') };
    const asked = await deps.ask<Pictured>(call, which, (chosen) =>
      imageCall({ prompt, count: 1, images, ...mask }, chosen),
    );
    seenBy(asked);
    return contentOf(await madeBy(deps, call.tenant, asked));
  };

const imageUpscaler =
  (deps: MediaDeps): MediaMethods['callImageUpscaler'] =>
  async ({ imageBase64, scale = 2, ...which }, call) => {
    const { data, mimeType, width = 0, height = 0 } = imageOf(decodeBase64(imageBase64, 'imageBase64'));
    if (width < 1 || height < 1 || Math.max(width, height) * scale > SIDE_MAX)
      throw invalid(
        `imageBase64 must be a PNG, JPEG or WebP image of at most ${SIDE_MAX / scale} pixels a side.`,
      );
    const size = { width: width * scale, height: height * scale };
    const images: readonly MediaPart[] = [{ type: 'image', mimeType, data }];
    const asked = await deps.ask<Pictured>(call, { task: 'upscale', ...which }, (chosen) =>
      imageCall({ prompt: UPSCALE, count: 1, images, ...size }, chosen),
    );
    seenBy(asked);
    const [made] = asked.media;
    // Models that redraw an image choose its size
    if ((made?.width ?? 0) <= width || (made?.height ?? 0) <= height)
      throw new OpenwopError('image_generation_failed', {
        message: `${asked.provider}/${asked.model} answered with an image that is not larger. Use a model that enlarges images.`,
        details: { provider: asked.provider, model: asked.model },
      });
    return contentOf(await madeBy(deps, call.tenant, asked));
  };

const SIDE_MAX = 16_384;
const UPSCALE = 'Make this image larger. Change nothing else.';

const contentOf = ({ data, mimeType }: Media) => ({
  contentBase64: Buffer.from(data).toString('base64'),
  contentType: mimeType,
});

/** The single result of the call, with its bytes. */
export async function madeBy(
  { media }: Pick<MediaDeps, 'media'>,
  tenant: string,
  { media: [made] }: Pick<Asked<unknown>, 'media'>,
): Promise<Media> {
  const found = made && (await media.read(tenant, made.id));
  if (found) return found;
  throw new OpenwopError('not_found', { message: 'The result of this call was deleted.' });
}

const EDITS: Readonly<Record<string, string>> = {
  'background-remove': 'Remove the background of this image and keep everything else as it is.',
};

/** Models accept no lists of colours or of things to avoid, so they are part of the prompt. */
export const promptOf = (asked: {
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly brandColors?: readonly string[];
}): string => {
  const { prompt, negativePrompt, brandColors = [] } = asked;
  const colours = brandColors.length > 0 ? [`Use these colours: ${brandColors.join(', ')}.`] : [];
  return [prompt, ...colours, ...(negativePrompt ? [`Avoid: ${negativePrompt}.`] : [])].join('\n');
};

/** Throws if the provider withheld all images. */
function seenBy({ answer, media, provider, model }: Asked<Pictured>): Pictured {
  if (media.length > 0) return answer;
  if (answer.filtered === 0)
    throw new OpenwopError('image_generation_failed', { details: { provider, model } });
  const details = { provider, model, filteredCount: answer.filtered, images: [] };
  throw new OpenwopError('image_safety_filtered_all', { details });
}

export const costOf = ({ spent, durationMs }: Pick<Asked<unknown>, 'spent' | 'durationMs'>): JsonObject => ({
  totalTimeMs: durationMs,
  ...(spent.cost > 0 && { usage: { totalCost: spent.cost / NANO_USD } }),
});
