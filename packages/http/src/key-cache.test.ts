import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRecord } from '@gantry/store';
import { createKeyCache } from './key-cache.ts';

const record = (hash: string): KeyRecord => ({
  keyId: `key_${hash}`,
  tenant: 'acme',
  workspace: 'default',
  principal: `principal_${hash}`,
  name: 'test',
  hash,
  scopes: ['runs:read'],
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
});

function setup(known: readonly string[]) {
  let at = 0;
  const asked: string[] = [];
  const cache = createKeyCache(
    {
      keyByHash: async (hash) => {
        asked.push(hash);
        return known.includes(hash) ? record(hash) : null;
      },
    },
    () => at,
  );
  return { cache, asked, tick: (ms: number) => (at += ms) };
}

test('a key is asked for once, remembered for a moment, then asked for again', async () => {
  const { cache, tick } = setup(['a']);
  assert.equal(cache.recall('a'), undefined);
  assert.equal((await cache.load('a'))?.caller.keyId, 'key_a');
  tick(4_999);
  assert.equal(cache.recall('a')?.caller.tenant, 'acme');
  tick(1);
  assert.equal(cache.recall('a'), undefined);
});

test('a change of keys forgets everything, unknown keys too', async () => {
  const { cache } = setup(['a']);
  await cache.load('a');
  await cache.load('b');
  assert.equal(cache.recall('b'), null);
  cache.clear();
  assert.equal(cache.recall('a'), undefined);
  assert.equal(cache.recall('b'), undefined);
});

test('guessing keys never pushes out a known one', async () => {
  const { cache } = setup(['a']);
  await cache.load('a');
  for (let i = 0; i < 20_001; i++) await cache.load(`guess-${i}`);
  assert.notEqual(cache.recall('a'), undefined);
  assert.equal(cache.recall('guess-0'), undefined, 'the oldest guess was forgotten');
});

test('a record whose hash differs from the one asked for is no match', async () => {
  const cache = createKeyCache({ keyByHash: async () => record('other') }, () => 0);
  assert.equal(await cache.load('a'), null);
});
