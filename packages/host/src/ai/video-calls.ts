/**
 * Videos take minutes, so they are two recorded calls.
 *
 * I1  The first starts the video: it is made once, and in doubt if its outcome is unknown.
 * I2  The second polls until the video ends. It changes nothing at the provider, so any process may continue it.
 */
import { estimateTokens, ModelFailure, plainPng, type VideoRequest } from '@gantry/ai';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { decodeBase64, type ModelsPort } from '@gantry/surfaces';
import { type Clock, pause, systemClock } from '../runtime/clock.ts';
import { failing, wholeCall } from './media-calls.ts';
import { costOf, type MediaDeps, promptOf } from './media-port.ts';
import type { ChosenModel } from './model-source.ts';
import type { PlannedCall } from './planned-call.ts';

/** Length of a video if none was requested. */
const SECONDS_DEFAULT = 8;
const POLL_MS = 500;
const POLL_MS_MAX = 10_000;

interface VideoBegun {
  readonly operation: JsonObject;
}

export const videoStartCall = (ask: Omit<VideoRequest, 'model'>, chosen: ChosenModel): PlannedCall =>
  wholeCall(
    chosen,
    {
      inputTokens: estimateTokens(ask.prompt),
      units: ask.durationSeconds ?? SECONDS_DEFAULT,
      fails: failing('video_generation_failed'),
      once: true,
    },
    async (family, reach) => {
      const { operation } = await family.video!.start({ ...ask, model: chosen.model }, reach);
      return { answer: { operation } };
    },
  );

interface VideoEnd {
  readonly isFiltered: boolean;
}

export interface Waiting {
  readonly clock: Clock;
  /** How long a node waits; its next attempt waits again. */
  readonly waitMs: number;
  /** Aborted when the node is to stop. */
  readonly cancelled?: AbortSignal | undefined;
}

export function videoEndCall({ operation }: VideoBegun, chosen: ChosenModel, wait: Waiting): PlannedCall {
  const { clock, cancelled } = wait;
  const waitsUntil = clock.elapsedMs() + wait.waitMs;
  const terms = { inputTokens: 0, fails: failing('video_generation_failed'), goesOn: true } as const;
  return wholeCall(chosen, terms, async (family, reach) => {
    for (let waitMs = POLL_MS; ; waitMs = Math.min(waitMs * 2, POLL_MS_MAX)) {
      const status = await family.video!.status(operation, reach);
      switch (status.state) {
        case 'done':
          return { answer: { isFiltered: false }, media: [status.video] };
        case 'filtered':
          return { answer: { isFiltered: true }, media: [PLACEHOLDER] };
        case 'cancelled':
          throw new OpenwopError('video_generation_cancelled');
        case 'failed':
          throw new ModelFailure('rejected', status.message);
        case 'pending':
      }
      if (clock.elapsedMs() >= waitsUntil) throw new OpenwopError('video_generation_timeout');
      const signals = [reach.signal, ...(cancelled ? [cancelled] : [])];
      await pause(clock, waitMs, AbortSignal.any(signals));
      reach.signal.throwIfAborted();
      if (cancelled?.aborted) throw new OpenwopError('video_generation_cancelled');
    }
  });
}

const GREY = Buffer.from([128, 128, 128]);
/** Replaces a video that the provider withheld. */
const PLACEHOLDER = { data: plainPng(320, 180, GREY), mimeType: 'image/png', width: 320, height: 180 };

/** Other than the series of all other calls, since both steps have the number of the call. */
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
