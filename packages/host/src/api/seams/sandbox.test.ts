import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packArchive } from '../../packs/testing/pack-archive.ts';
import { assertError } from '../testing/api-test.ts';
import { type SeamTest, seamTest } from './testing/seam-test.ts';

const invoke = (api: SeamTest, typeId: string, more = {}) =>
  api.drive('test/sandbox-invoke', { typeId, ...more });

const ESCAPES = {
  'misbehave.fs-escape-read': 'host-fs-escape',
  'misbehave.fs-escape-write': 'host-fs-escape',
  'misbehave.network-escape': 'network-escape',
  'misbehave.process-escape': 'host-process-escape',
  'misbehave.env-leak': 'host-env-leak',
};

test('what no pack may do is stopped and named', async (t) => {
  // Little, so that it is used up well within the time that the seam gives
  const api = await seamTest(t, { settings: { packMemoryMb: 64 } });
  for (const [typeId, escapeKind] of Object.entries(ESCAPES)) {
    const { error } = await invoke(api, typeId);
    assert.deepEqual(
      [error?.code, error?.details?.escapeKind],
      ['sandbox_escape_attempt', escapeKind],
      typeId,
    );
  }
  const denied = await invoke(api, 'misbehave.capability-gate-violation');
  assert.equal(denied.error.code, 'sandbox_capability_denied');
  assert.equal(denied.error.details.requestedCapability, 'notInAllowedList');
  assert.equal((await invoke(api, 'misbehave.timeout')).error.code, 'sandbox_timeout');
  assert.equal((await invoke(api, 'misbehave.memory-bomb')).error.code, 'sandbox_memory_exceeded');
});

test('code that behaves runs, and every call starts afresh', async (t) => {
  const api = await seamTest(t);
  assert.deepEqual(await invoke(api, 'well-behaved.echo', { args: { input: 'hi' } }), {
    result: { echoed: 'hi' },
  });
  for (let call = 0; call < 2; call++)
    assert.equal((await invoke(api, 'misbehave.cross-pack-mutate')).result.shared, 1);
  const fetched = await invoke(api, 'well-behaved.host-fetch', { allowedHostCalls: ['fetch'] });
  assert.equal(fetched.error, undefined, JSON.stringify(fetched));
});

test('packs are loaded by name, and unknown ones are not found', async (t) => {
  const api = await seamTest(t);
  const loaded = await api.drive('test/sandbox-load', { packId: 'misbehave' });
  assert.ok(loaded.typeIds.includes('misbehave.timeout'));
  const { bytes } = await packArchive({ nodes: { 'vendor.acme.work': { body: 'return { done: true };' } } });
  const headers = { 'content-type': 'application/gzip' };
  await api.request({ method: 'POST', url: '/v1/host/gantry/packs', payload: bytes, headers });
  assert.deepEqual(await invoke(api, 'vendor.acme.work'), { result: { done: true } });
  assertError(
    await api.post('/v1/host/sample/test/sandbox-load', { packId: 'vendor.acme.none' }),
    404,
    'pack_not_found',
  );
});
