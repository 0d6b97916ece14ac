import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Line, Lines } from './line.ts';

/** Work that goes on until it is told to. */
function jobs() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const job = (name: string) => (): Promise<void> => {
    begun.push(name);
    ends.set(name, Promise.withResolvers());
    return ends.get(name)!.promise;
  };
  return { begun, job, ends };
}

test('so many are at work, the others wait in their order, and a failure lets the next in', async () => {
  const line = new Line(2);
  const { begun, job, ends } = jobs();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => line.inTurn(job(name)));
  assert.deepEqual([begun, line.length], [['a', 'b'], 2]);
  ends.get('b')?.reject(new Error('broken'));
  await assert.rejects(b!, /broken/);
  assert.deepEqual([begun, line.length], [['a', 'b', 'c'], 1]);
  ends.get('a')?.resolve();
  await a;
  for (const name of ['c', 'd']) ends.get(name)?.resolve();
  await Promise.all([c, d]);
  assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
});

test('one key waits for itself alone, and goes on after a failure', async () => {
  const lines = new Lines();
  const { begun, job, ends } = jobs();
  const failing = lines.inTurn('a', job('a1'));
  const second = lines.inTurn('a', job('a2'));
  const other = lines.inTurn('b', job('b1'));
  await Promise.resolve();
  assert.deepEqual(begun, ['a1', 'b1']);
  ends.get('a1')?.reject(new Error('broken'));
  await assert.rejects(failing, /broken/);
  assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  for (const name of ['a2', 'b1']) ends.get(name)?.resolve();
  await Promise.all([second, other]);
});
