import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted, unavailable } from './errors.ts';
import { tried, watched } from './transaction.ts';

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

test('work that was given up in silence hears of it before it commits', async () => {
  const phases: string[] = [];
  const given = watched('The server', async (progress, onSilence) => {
    const told = onSilence();
    phases.push(progress.phase);
    throw told;
  });
  await assert.rejects(given, { code: 'storage_unavailable', message: /no answer/ });
  assert.deepEqual(phases, ['given up']);
  const committing = watched('The server', async (progress, onSilence) => {
    progress.phase = 'committing';
    throw onSilence();
  });
  await assert.rejects(committing, { code: 'effect_in_doubt' });
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
