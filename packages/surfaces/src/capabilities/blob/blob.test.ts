/** `ctx.storage.blob` as packs call it, and links as clients follow them. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import { OBJECT_BYTES_MAX } from '../../ports/blobs.ts';
import { openS3Blobs } from '../../s3/blobs.ts';
import { NOW } from '../../testing/calls.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openTestS3, useTestCredentials } from '../../testing/s3.ts';
import { openTestSurfaces } from '../../testing/surfaces.ts';
import { callGateOf, nodeOf } from '../../testing/test-call-gate.ts';
import { implementBlobs } from './surface.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

async function world(t: TestContext, buckets: readonly string[] = ['artifacts']) {
  const folder = freshFolder();
  const opened = await openTestSurfaces(folder.path, { buckets });
  t.after(async () => {
    await opened.close();
    folder.remove();
  });
  const callGate = callGateOf(opened.surfaces);
  let nodes = 0;
  const call = (method: string, input: Data, tenant = 'acme') =>
    nodeOf(callGate, { tenant, nodeId: `n${nodes++}` })(`storage.blob.${method}`, input);
  const follow = async (method: string, url: string, body = bytes(''), contentType?: string) => {
    const answer = await opened.servePresigned({
      method,
      url: url.replace('https://host.test', ''),
      now: callGate.clock.now,
      body: (async function* () {
        yield body;
      })(),
      ...(contentType !== undefined && { contentType }),
    });
    return { ...answer, body: new Uint8Array(answer.body ? await buffer(answer.body) : []) };
  };
  return { callGate, call, follow };
}

const at = { bucket: 'artifacts', key: 'a b/c.txt' };

describe('blobStorage', () => {
  test('every method of the contract, with its answers', async (t) => {
    const { call } = await world(t);
    const url = 'https://host.test/v1/host/gantry/blobs/artifacts/a%20b/c.txt';
    const put = await call('put', { ...at, bytes: bytes('hi'), contentType: 'text/plain' });
    assert.deepEqual(put, { url, sizeBytes: 2, size: 2, key: at.key });
    assert.deepEqual(await call('get', at), {
      bytes: bytes('hi'),
      contentType: 'text/plain',
      found: true,
      contentBase64: 'aGk=',
      size: 2,
    });
    assert.deepEqual(await call('list', { bucket: 'artifacts' }), {
      entries: [{ key: at.key, sizeBytes: 2 }],
    });
    assert.deepEqual(await call('delete', at), { deleted: true });
    await assert.rejects(call('get', at), { code: 'blob_object_not_found' });
  });

  test('the spellings of published packs', async (t) => {
    const { call, follow } = await world(t);
    await call('put', { key: 'k', contentBase64: 'aGk=' });
    const found = { found: true, bytes: bytes('hi'), contentBase64: 'aGk=', size: 2 };
    assert.deepEqual(await call('get', { key: 'k' }), found);
    assert.deepEqual(await call('get', { key: 'none' }), { found: false });
    await call('put', { key: 'plain', bytes: bytes('hi') });
    assert.deepEqual(await call('get', { key: 'plain' }), found);
    const link = (await call('presign', { key: 'k', operation: 'get' })) as {
      url: string;
      expiresAt: string;
    };
    assert.equal(link.expiresAt, new Date(NOW + 900_000).toISOString());
    assert.deepEqual((await follow('GET', link.url)).body, bytes('hi'));
  });

  test('a call without a bucket means the first one', async (t) => {
    const { call, callGate } = await world(t, ['exports', 'artifacts']);
    assert.deepEqual((callGate.callGate.discovery().blobStorage as { buckets: unknown }).buckets, [
      { name: 'exports' },
      { name: 'artifacts' },
    ]);
    await call('put', { key: 'k', bytes: bytes('first') });
    await call('put', { bucket: 'artifacts', key: 'other', bytes: bytes('second') });
    const entries = [{ key: 'k', sizeBytes: 5 }];
    assert.deepEqual(await call('list', {}), { entries });
    assert.deepEqual(await call('list', { bucket: 'exports' }), { entries });
    assert.deepEqual(await call('find', { key: 'k' }), { found: true, bytes: bytes('first') });
    assert.deepEqual(await call('find', { bucket: 'artifacts', key: 'k' }), { found: false });
    assert.match(JSON.stringify(await call('presign', { key: 'k' })), /blobs\/exports\/k\?/);
    assert.deepEqual(await call('delete', { key: 'k' }), { deleted: true });
    await assert.rejects(call('get', { bucket: 'other', key: 'k' }), {
      code: 'blob_bucket_not_found',
      details: { buckets: ['exports', 'artifacts'] },
    });
  });

  test('a page that is asked to be larger than pages are is as large as they are', async (t) => {
    const { call } = await world(t);
    await call('put', { ...at, bytes: bytes('x') });
    for (const limit of [1_000, 1_001, 5_000, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(await call('list', { bucket: 'artifacts', limit }), {
        entries: [{ key: at.key, sizeBytes: 1 }],
      });
    for (const limit of [0, -1, 1.5])
      await assert.rejects(call('list', { bucket: 'artifacts', limit }), { code: 'validation_error' });
  });

  test('refuses what is over a limit, and what no key, bucket or type can be', async (t) => {
    const { call } = await world(t);
    const refused = (input: { [name: string]: Data }, code: string) =>
      assert.rejects(call('put', { ...at, bytes: bytes('x'), ...input }), { code });
    await refused({ bytes: new Uint8Array(OBJECT_BYTES_MAX + 1) }, 'blob_object_too_large');
    await call('put', { ...at, bytes: new Uint8Array(OBJECT_BYTES_MAX) });
    await refused({ bucket: 'other' }, 'blob_bucket_not_found');
    await assert.rejects(call('list', { bucket: '../artifacts' }), { code: 'blob_bucket_not_found' });
    for (const key of [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      'a/../b',
      './a',
      'a\0',
      'a\nb',
      '\ud800',
      'k'.repeat(513),
    ])
      await refused({ key }, 'validation_error');
    for (const contentType of ['', 'text', 'text/plain\r\nx: y', 'text/html<', 'a/b;'.repeat(99)])
      await refused({ contentType }, 'validation_error');
    for (const expiresInSeconds of [0, -1, 1.5, 604_801])
      await assert.rejects(call('presign', { ...at, method: 'GET', expiresInSeconds }), {
        code: 'validation_error',
      });
  });

  test('cursors walk every key once, and are refused to others', async (t) => {
    const { call } = await world(t);
    for (const key of ['a', 'b', 'c']) await call('put', { bucket: 'artifacts', key, bytes: bytes(key) });
    await call('put', { bucket: 'artifacts', key: 'a', bytes: bytes('theirs') }, 'other');
    type Page = { entries: { key: string }[]; nextCursor?: string };
    const page = async (input: { [name: string]: Data }, tenant?: string) =>
      (await call('list', { bucket: 'artifacts', ...input }, tenant)) as Page;
    const { entries, nextCursor } = await page({ limit: 2 });
    assert.deepEqual(
      entries.map(({ key }) => key),
      ['a', 'b'],
    );
    assert.ok(nextCursor);
    assert.deepEqual((await page({ limit: 2, cursor: nextCursor })).entries, [{ key: 'c', sizeBytes: 1 }]);
    await assert.rejects(page({ cursor: nextCursor }, 'other'), { code: 'validation_error' });
    await assert.rejects(page({ cursor: nextCursor, prefix: 'a' }), { code: 'validation_error' });
  });
});

describe('links', () => {
  const linkOf = async (world_: Awaited<ReturnType<typeof world>>, method: string, tenant?: string) =>
    ((await world_.call('presign', { ...at, method, expiresInSeconds: 60 }, tenant)) as { url: string }).url;

  test('end at their time, and reach the objects of their tenant only', async (t) => {
    const found = await world(t);
    await found.call('put', { ...at, bytes: bytes('ours') });
    const [ours, theirs] = [await linkOf(found, 'GET'), await linkOf(found, 'GET', 'other')];
    assert.deepEqual((await found.follow('GET', ours)).body, bytes('ours'));
    await assert.rejects(found.follow('GET', theirs), { code: 'blob_object_not_found' });
    found.callGate.clock.now += 59_999;
    assert.equal((await found.follow('GET', ours)).status, 200);
    found.callGate.clock.now += 1;
    await assert.rejects(found.follow('GET', ours), { code: 'blob_presign_expired' });
  });

  test('a node that is declared pure gets links that read, and none that write', async (t) => {
    const { callGate } = await world(t);
    const pure = nodeOf(callGate, { effect: 'pure', nodeId: 'pure' });
    const link = { ...at, expiresInSeconds: 60 };
    assert.match(
      JSON.stringify(await pure('storage.blob.presign', { ...link, method: 'GET' })),
      /method=GET/,
    );
    const denied = {
      code: 'sandbox_capability_denied',
      message:
        /^Node "pure" is declared pure and may only read, but called ctx\.storage\.blob\.presign.*test\.pack/,
      details: { requestedCapability: 'host.blobStorage.presign' },
    };
    await assert.rejects(pure('storage.blob.presign', { ...link, method: 'PUT' }), denied);
    await assert.rejects(pure('storage.blob.presign', { key: 'k', operation: 'put' }), denied);
    for (const effect of ['idempotent', 'effect'] as const)
      await nodeOf(callGate, { effect, nodeId: effect })('storage.blob.presign', { ...link, method: 'PUT' });
  });

  test('put what fits, and browsers run nothing of what they get', async (t) => {
    const found = await world(t);
    const put = await linkOf(found, 'PUT');
    const page = bytes('<script>alert(1)</script>');
    assert.equal((await found.follow('PUT', put, page, 'text/html')).status, 200);
    const { headers, body } = await found.follow('GET', await linkOf(found, 'GET'));
    assert.deepEqual(body, page);
    assert.equal(headers['content-type'], 'text/html');
    assert.equal(headers['content-disposition'], 'attachment');
    assert.match(headers['content-security-policy'] ?? '', /sandbox/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    await assert.rejects(found.follow('PUT', put, new Uint8Array(OBJECT_BYTES_MAX + 1)), {
      code: 'blob_object_too_large',
    });
    assert.deepEqual((await found.follow('GET', await linkOf(found, 'GET'))).body, page);
  });

  test('what is no content type is none, and never a header', async (t) => {
    const found = await world(t);
    const put = await linkOf(found, 'PUT');
    for (const type of ['weird', '', 'text/html\r\nset-cookie: a=b', 'text/plain;;']) {
      assert.equal((await found.follow('PUT', put, bytes(type), type)).status, 200);
      const { headers, body } = await found.follow('GET', await linkOf(found, 'GET'));
      assert.deepEqual([headers['content-type'], body], ['application/octet-stream', bytes(type)]);
      assert.deepEqual(await found.call('find', at), { found: true, bytes: bytes(type) });
    }
  });
});

test('on S3 the host remembers: a node that runs again writes nothing twice', async (t) => {
  useTestCredentials();
  const server = await openTestS3('objects');
  const port = await openS3Blobs({
    bucket: 'objects',
    prefix: '',
    endpoint: `http://${server.host}:${server.port}`,
  });
  t.after(async () => {
    await port.close();
    await server.close();
  });
  const buckets = ['artifacts'];
  const world_ = callGateOf([implementBlobs({ port, buckets, cursors: createCursors(new Uint8Array(32)) })]);
  const again = () => nodeOf(world_, { nodeId: 'same' });
  await again()('storage.blob.put', { ...at, bytes: bytes('one') });
  const other = nodeOf(world_, { nodeId: 'other' });
  await other('storage.blob.put', { ...at, bytes: bytes('two') });
  const repeated = await again()('storage.blob.put', { ...at, bytes: bytes('one') });
  assert.equal((repeated as { sizeBytes: number }).sizeBytes, 3);
  assert.equal(((await other('storage.blob.get', at)) as { contentBase64: string }).contentBase64, 'dHdv');
});
