/** Videos, as pack code asks for them. */
import { OpenwopError } from '@gantry/protocol';
import { decodeBase64, type ModelsPort } from '@gantry/surfaces';
import { systemClock } from '../runtime/clock.ts';
import { costOf, type MediaDeps, promptOf } from './media-port.ts';
import { type VideoBegun, type VideoEnd, videoEndCall, videoStartCall } from './video-calls.ts';

/** Beside the series of all other calls: both steps have the number of the call. */
const POLLS = 'aiProviders.own.polls';

export const videoGenerator =
  ({ ask, media, videoWaitMs }: MediaDeps): ModelsPort['callVideoGenerator'] =>
  async (asked, call) => {
    const { provider, model, credentialRef, seedImageBase64, brandColors, ...wanted } = asked;
    const which = { task: 'video', provider, model, credentialRef } as const;
    const prompt = promptOf({ prompt: wanted.prompt, ...(brandColors && { brandColors }) });
    const image = seedImageBase64 !== undefined && {
      image: {
        type: 'image' as const,
        mimeType: 'image/png',
        data: decodeBase64(seedImageBase64, 'seedImageBase64'),
      },
    };
    const begun = await ask<VideoBegun>(call, which, (chosen) =>
      videoStartCall({ ...wanted, prompt, ...image }, chosen),
    );
    const cancelled = call.caller.kind === 'node' ? call.caller.cancelled : undefined;
    const same = { ...which, provider: begun.provider, model: begun.model };
    const wait = { clock: systemClock, waitMs: videoWaitMs, cancelled };
    const ended = await ask<VideoEnd>(
      call,
      same,
      (chosen) => videoEndCall(begun.answer, chosen, wait),
      POLLS,
    );
    const [made] = ended.media;
    if (!made) throw new OpenwopError('video_generation_failed');
    const { isFiltered: safetyFiltered } = ended.answer;
    const { width = 1_280, height = 720, durationSeconds = 0, seed } = wanted;
    const url = await media.urlOf(call.tenant, made);
    const durationMs = begun.durationMs + ended.durationMs;
    return {
      video: {
        url,
        mediaRef: media.refOf(made),
        mimeType: made.mimeType,
        durationSeconds: safetyFiltered ? 0 : (made.durationSeconds ?? durationSeconds),
        width: made.width ?? width,
        height: made.height ?? height,
        fileSizeBytes: made.bytes,
        safetyFiltered,
        ...(safetyFiltered && { thumbnailUrl: url }),
        ...(seed !== undefined && { seed }),
        metadata: { model: begun.model, provider: begun.provider, generationTimeMs: durationMs },
      },
      ...costOf({ spent: begun.spent, durationMs }),
    };
  };
