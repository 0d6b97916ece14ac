import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaRoom } from './media-input.ts';

const image = { type: 'image', mimeType: 'image/png', url: 'https://example.com/x.png' };
const messages = [{ role: 'user', content: Array(20).fill(image) }];

test('calls with many media wait for room, by tenant; those without do not', async () => {
  const inRoom = mediaRoom();
  const { signal } = new AbortController();
  const first = Promise.withResolvers<string>();
  const made: string[] = [];
  const call = (tenant: string, given: typeof messages, act: () => Promise<string>) =>
    inRoom(given, { tenant, signal }, () => {
      made.push(tenant);
      return act();
    });
  const held = call('a', messages, () => first.promise);
  const waiting = call('a', messages, async () => 'second');
  assert.equal(await call('b', messages, async () => 'other'), 'other');
  assert.equal(await call('a', [{ role: 'user', content: [] }], async () => 'text'), 'text');
  assert.deepEqual(made, ['a', 'b', 'a']);
  first.reject(new Error('broken'));
  await assert.rejects(held, /broken/);
  assert.equal(await waiting, 'second');
});
