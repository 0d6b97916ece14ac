import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { eachOf } from './patience.ts';

const silent = (): OpenwopError => new OpenwopError('pack_registry_unreachable', { message: 'No answer.' });

async function worked(items: readonly number[], work: (item: number) => Promise<void>, atOnce = 1) {
  const failed: [number, string][] = [];
  const waits: number[] = [];
  const notTried = await eachOf({
    items,
    atOnce,
    work,
    signal: new AbortController().signal,
    wait: async (ms) => waits.push(ms),
    failed: (item, { code }) => failed.push([item, code]),
  });
  return { failed, waits, notTried };
}

test('what did not answer is tried again, a little later each time', async () => {
  let calls = 0;
  const { failed, waits } = await worked([1], async () => {
    if (++calls < 3) throw silent();
  });
  assert.deepEqual([calls, failed, waits.length], [3, [], 2]);
  assert.ok((waits[0] ?? 0) < (waits[1] ?? 0));
});

test('a refusal is final, and does not keep the others from their turn', async () => {
  const { failed, waits, notTried } = await worked([1, 2, 3], async (item) => {
    if (item === 2) throw new OpenwopError('conflict');
  });
  assert.deepEqual([failed, waits, notTried], [[[2, 'conflict']], [], 0]);
});

test('a registry that is gone is not asked for every version', async () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const { failed, notTried } = await worked(items, async () => Promise.reject(silent()));
  assert.equal(failed.length, 8);
  assert.equal(notTried, 92);
});

test('never more than some at once', async () => {
  let now = 0;
  let most = 0;
  const items = Array.from({ length: 20 }, (_, index) => index);
  await worked(
    items,
    async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
    },
    4,
  );
  assert.equal(most, 4);
});

test('a bug is no refusal', async () => {
  await assert.rejects(
    worked([1, 2], async () => {
      throw new TypeError('a bug');
    }),
    /a bug/,
  );
});
