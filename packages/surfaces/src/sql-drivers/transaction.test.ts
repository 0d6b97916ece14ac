import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SQL_LIMITS } from '../ports/sql.ts';
import { aborted, unavailable } from './errors.ts';
import { inOrder, tried, watched } from './server.ts';

const gone = () => unavailable('The server', undefined, 'ECONNRESET');

test('a server that is lost before the commit kept nothing; after it, nobody knows', async () => {
  const lostWhile = (phase: 'working' | 'committing') =>
    watched('The server', async (progress) => {
      progress.phase = phase;
      throw gone();
    });
  await assert.rejects(lostWhile('working'), { code: 'storage_unavailable' });
  await assert.rejects(lostWhile('committing'), { code: 'effect_in_doubt', message: /Look at the data/ });
});

test('a refused commit is no doubt', async () => {
  const refused = watched('The server', async (progress) => {
    progress.phase = 'committing';
    throw aborted('constraint', 'deferred');
  });
  await assert.rejects(refused, { code: 'sql_transaction_aborted' });
});

test('statements are bounded together, and what fails says which it was', async () => {
  const limits = { ...SQL_LIMITS, timeoutMs: 20 };
  const begun: number[] = [];
  const slow = inOrder([0, 1, 2], limits, async (index) => {
    begun.push(index);
    const until = performance.now() + limits.timeoutMs;
    while (performance.now() <= until);
  });
  await assert.rejects(slow, { code: 'sql_transaction_aborted', details: { reason: 'timeout' } });
  assert.deepEqual(begun, [0]);
  const failing = inOrder([0, 1, 2], SQL_LIMITS, async (index) => {
    if (index === 1) throw new Error('no');
  });
  await assert.rejects(failing, { operation: 1 });
});

test('what gave way is tried again a few times, anything else is not', async () => {
  const failing = async (reason: 'conflict' | 'data'): Promise<number> => {
    let attempts = 0;
    const work = async () => {
      attempts++;
      throw aborted(reason, 'no');
    };
    await assert.rejects(tried(work), { code: 'sql_transaction_aborted' });
    return attempts;
  };
  assert.equal(await failing('conflict'), 3);
  assert.equal(await failing('data'), 1);
});
