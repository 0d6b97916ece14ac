/** `ctx.storage.blob` on S3: what packs name, what others must not see, and what links let in. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createCursors } from '../calls/cursor.ts';
import type { Data } from '../calls/data.ts';
import { implementBlobs } from '../capabilities/blob/surface.ts';
import { type BlobPort, OBJECT_BYTES_MAX } from '../ports/blobs.ts';
import { bytesOf } from '../ports/blobs-contract.ts';
import { freshTenant } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import { openTestS3, type TestS3, useTestCredentials } from '../testing/s3.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import { openS3Blobs } from './blobs.ts';

useTestCredentials();

describe('blobStorage on S3', () => {
  let [server, port, nodes]: [TestS3 | null, BlobPort | null, number] = [null, null, 0];
  before(async () => {
    server = await openTestS3('objects');
    const endpoint = `http://${server.host}:${server.port}`;
    port = await openS3Blobs({ bucket: 'objects', prefix: '', endpoint });
  });
  after(async () => {
    await port?.close();
    await server?.close();
  });

  function callOf(tenant: string, effect: 'pure' | 'effect' = 'effect') {
    const cursors = createCursors(new Uint8Array(32).fill(7));
    const callGate = callGateOf([implementBlobs({ port: port!, cursors, buckets: ['artifacts'] })]);
    callGate.clock.now = Date.now();
    return async (method: string, input: { [name: string]: Data } = {}) =>
      (await nodeOf(callGate, { tenant, effect, nodeId: `n${nodes++}` })(`storage.blob.${method}`, {
        bucket: 'artifacts',
        ...input,
      })) as { [name: string]: Data };
  }

  test('cursors walk every key once, and are refused to others', async () => {
    const [ours, theirs] = [callOf(freshTenant()), callOf(freshTenant())];
    for (const key of ['a', 'b', 'c'])
      for (const call of [ours, theirs]) await call('put', { key, bytes: bytesOf(key) });
    const { entries, nextCursor } = await ours('list', { limit: 2 });
    assert.deepEqual(
      (entries as { key: string }[]).map(({ key }) => key),
      ['a', 'b'],
    );
    assert.ok(typeof nextCursor === 'string');
    const refused = { code: 'validation_error', message: /cursor/ };
    await assert.rejects(theirs('list', { limit: 2, cursor: nextCursor }), refused);
    await assert.rejects(ours('list', { prefix: 'a', cursor: nextCursor }), refused);
    assert.deepEqual(await ours('list', { cursor: nextCursor }), { entries: [{ key: 'c', sizeBytes: 1 }] });
  });

  test('hostile names are names, or refused, and nobody else has them', async () => {
    const [ours, theirs] = [callOf(freshTenant()), callOf(freshTenant())];
    const refused = new Set(['../..', '/', '\t\n']);
    const keys = HOSTILE_TEXTS.filter((text) => !refused.has(text));
    for (const key of refused)
      for (const method of ['put', 'get', 'delete', 'presign'])
        await assert.rejects(
          ours(method, { key, bytes: bytesOf('x'), method: 'GET', expiresInSeconds: 60 }),
          { code: 'validation_error' },
          JSON.stringify(key),
        );
    await Promise.all(keys.map((key) => ours('put', { key, bytes: bytesOf(`of ${key}`) })));
    for (const key of keys) {
      assert.deepEqual((await ours('get', { key })).bytes, bytesOf(`of ${key}`), key);
      await assert.rejects(theirs('get', { key }), { code: 'blob_object_not_found' }, key);
      const { url } = await ours('presign', { key, method: 'GET', expiresInSeconds: 60 });
      assert.equal(await (await fetch(String(url))).text(), `of ${key}`);
    }
    const listed = (await ours('list')).entries as { key: string }[];
    assert.deepEqual(listed.map(({ key }) => key).toSorted(), keys.toSorted());
    assert.deepEqual(await theirs('list'), { entries: [] });
    const deleted = await Promise.all(keys.map((key) => ours('delete', { key })));
    assert.ok(deleted.every((answer) => answer.deleted === true));
    assert.deepEqual(await ours('list'), { entries: [] });
  });

  test('what a link let in beyond the limit is not given on, but found and deleted', async () => {
    const call = callOf(freshTenant());
    const link = { key: 'k', expiresInSeconds: 60 };
    const { url } = await call('presign', { ...link, method: 'PUT' });
    assert.equal(
      (await fetch(String(url), { method: 'PUT', body: Buffer.alloc(OBJECT_BYTES_MAX + 1) })).status,
      200,
    );
    const tooLarge = { code: 'blob_object_too_large', details: { maxObjectBytes: OBJECT_BYTES_MAX } };
    await assert.rejects(call('get', { key: 'k' }), tooLarge);
    await assert.rejects(call('presign', { ...link, method: 'GET' }), tooLarge);
    assert.deepEqual(await call('list'), { entries: [{ key: 'k', sizeBytes: OBJECT_BYTES_MAX + 1 }] });
    assert.deepEqual(await call('delete', { key: 'k' }), { deleted: true });
    await call('presign', { ...link, method: 'GET' });
  });
});
