import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLACES_MAX, Turns } from './turns.ts';

test('one tenant never has all places, and others are let in at once', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const take = async (key: string) => {
    const leave = await turns.take(key);
    order.push(key);
    return leave;
  };
  const [first, ...rest] = Array.from({ length: PLACES_MAX + 2 }, () => take('acme'));
  const other = await take('other');
  assert.deepEqual(order, ['acme', 'acme', 'other']);
  (await first!)();
  (await first!)();
  await rest[1];
  assert.deepEqual(
    order,
    ['acme', 'acme', 'other', 'acme'],
    'a place that was given back twice is one place',
  );
  other();
  turns.close();
  for (const each of rest.slice(2)) await assert.rejects(each, { code: 'storage_unavailable' });
  await assert.rejects(turns.take('other'), { message: /stopping/ });
});

test('one tenant never has all of the queue', async () => {
  const turns = new Turns();
  const waiting = Array.from({ length: 502 }, () => turns.take('acme'));
  await assert.rejects(turns.take('acme'), { code: 'storage_unavailable', message: /Too many/ });
  const leave = await turns.take('other');
  leave();
  turns.close();
  await Promise.allSettled(waiting);
});

test('who waits for too long is refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const turns = new Turns();
  const [, , late] = Array.from({ length: 3 }, () => turns.take('acme'));
  t.mock.timers.tick(15_000);
  await assert.rejects(late!, { code: 'storage_unavailable', message: /waiting for too long/ });
});
