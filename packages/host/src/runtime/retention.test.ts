import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startRetention } from './retention.ts';

/** Time passes only in batches and pauses. */
function pausingWorld(batches: number[]) {
  let elapsedMs = 0;
  const pauses: number[] = [];
  const deleteBatch = async (): Promise<number> => {
    elapsedMs += 8;
    return batches.shift() ?? 0;
  };
  const clock = {
    elapsedMs: () => elapsedMs,
    after(ms: number, run: () => void, where?: 'background') {
      if (where !== 'background') {
        pauses.push(ms);
        elapsedMs += ms;
        queueMicrotask(run);
      }
      return () => {};
    },
    soon: setImmediate,
  };
  let others = 0;
  const retention = startRetention({
    sweep: { deleteEnded: deleteBatch, deleteExpired: async () => 0, deleteRun: async () => true },
    others: [{ sweep: async () => ++others }],
    retentionMs: 1,
    now: () => 0,
    clock,
    log: pino({ level: 'silent' }),
  });
  return { retention, pauses, others: () => others };
}

test('a sweep goes on until nothing is left, and pauses as long as its batches take', async () => {
  const { retention, pauses, others } = pausingWorld([100, 7, 100]);
  assert.equal(await retention.run(), 207);
  assert.deepEqual(pauses, [8, 8, 8]);
  assert.equal(others(), 1);
});

test('a sweep ends with the host', async () => {
  const { retention, others } = pausingWorld(Array(1_000).fill(1));
  const swept = retention.run();
  retention.stop();
  assert.ok((await swept) <= 1);
  assert.equal(others(), 0);
});
