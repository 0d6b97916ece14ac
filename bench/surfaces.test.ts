import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { freshFolder } from './servers.ts';
import { openCallGate, startPack } from './surfaces-pack.ts';
import { CALLS, PLACES, PLACES_IN_LANE, perSecond, placeOf } from './surfaces-works.ts';

test('what lanes do at once is counted whole, and every place is visited', async () => {
  let done = 0;
  const visited = new Set<number>();
  const startedAt = performance.now();
  const rate = await perSecond(
    async (lane, turn) => {
      visited.add(placeOf(lane, turn));
      await setImmediate();
      done += 3;
      return 3;
    },
    16,
    5,
  );
  const elapsedMs = performance.now() - startedAt;
  assert.equal(visited.size, 16 * PLACES_IN_LANE);
  const least = (done * 1_000) / elapsedMs;
  assert.ok(rate >= least, `${rate} of at least ${least}`);
  for (const { lanes } of Object.values(CALLS)) assert.ok(lanes * PLACES_IN_LANE <= PLACES);
});

test('a pack in the sandbox calls the surfaces that are measured', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-bench-'));
  const pack = await startPack(folder);
  const { callGate, close } = await openCallGate(freshFolder(folder), {});
  t.after(async () => {
    await pack.stop();
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const call of ['kv put', 'kv get', 'queue publish to ack', 'blob put', 'blob get'] as const)
    assert.ok((await pack.perSecond(callGate, { call, lanes: 2, ms: 1, questions: [] })) > 0, call);
});
