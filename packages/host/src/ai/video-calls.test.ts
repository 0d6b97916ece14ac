import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf } from '@gantry/protocol';
import { systemClock } from '../runtime/clock.ts';
import { scriptedSource } from './model-source.ts';
import { videoEndCall, videoStartCall } from './video-calls.ts';

test('a node that is to stop waits for no video', async () => {
  const owner = ownerOf({ tenant: 'default' });
  const query = { owner, configurable: { ai: { script: [{ delayMs: 5_000 }] } }, turn: 0 };
  const chosen = await scriptedSource.choose({ ...query, task: 'video', provider: 'scripted' });
  const io = { signal: new AbortController().signal, idempotencyKey: 'k', asked: 0, outputTokens: 0 };
  const heard = { text: () => undefined, other: () => {}, onSend: () => {}, onDecision: () => {} };
  const begun = await videoStartCall({ prompt: 'x' }, chosen).attempt({ ...io, ...heard });
  const stop = { clock: systemClock, waitMs: 60_000, cancelled: AbortSignal.abort() };
  const wait = videoEndCall({ operation: Object(begun.answer).operation }, chosen, stop);
  await assert.rejects(wait.attempt({ ...io, ...heard }), { code: 'video_generation_cancelled' });
});
