/** What every backend of the blob port must do, through the port: I1, I2 and I4. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { freshTenant, read, write } from '../testing/calls.ts';
import type { BlobPort, LinkMethod } from './blobs.ts';

export interface OpenedBlobPort {
  readonly port: BlobPort;
  /** Follows a link as a client without a key does. */
  follow(method: LinkMethod, url: string, body?: Uint8Array): Promise<{ status: number; bytes: Uint8Array }>;
  close(): Promise<void>;
}

type Open = () => OpenedBlobPort;

/** Every test is a tenant of its own. */
export function blobContract(name: string, open: () => Promise<OpenedBlobPort>): void {
  describe(`blob port: ${name}`, () => {
    let opened: OpenedBlobPort | null = null;
    const world: Open = () => opened ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    objects(world);
    isolation(world);
    listing(world);
    links(world);
  });
}

const at = (key: string, bucket = 'artifacts') => ({ bucket, key });
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const text = (key: string, content: string, bucket?: string) => ({
  ...at(key, bucket),
  bytes: bytesOf(content),
  contentType: 'text/plain',
});
const all = (prefix = '', bucket = 'artifacts') => ({ bucket, prefix, after: null, limit: 1_000 });

function objects(world: Open): void {
  test('keeps, replaces and deletes', async () => {
    const { port } = world();
    const tenant = freshTenant();
    assert.equal(await port.get(at('a/b'), read(tenant)), null);
    assert.deepEqual(await port.put(text('a/b', 'one'), write(tenant)), { sizeBytes: 3 });
    const bytes = new Uint8Array(randomBytes(70_000));
    assert.deepEqual(await port.put({ ...at('a/b'), bytes, contentType: 'image/png' }, write(tenant)), {
      sizeBytes: 70_000,
    });
    assert.deepEqual(await port.get(at('a/b'), read(tenant)), { bytes, contentType: 'image/png' });
    assert.deepEqual(await port.delete(at('a/b'), write(tenant)), { deleted: true });
    assert.deepEqual(await port.delete(at('a/b'), write(tenant)), { deleted: false });
    assert.equal(await port.get(at('a/b'), read(tenant)), null);
    await port.health();
  });

  test('an object has the type that it was put with, or none', async () => {
    const { port } = world();
    const tenant = freshTenant();
    for (const contentType of ['text/plain; charset=utf-8', null, 'application/octet-stream', null]) {
      await port.put({ ...text('k', 'x'), contentType }, write(tenant));
      assert.equal((await port.get(at('k'), read(tenant)))?.contentType, contentType);
    }
  });

  test('an object may be empty, and a key may begin another', async () => {
    const { port } = world();
    const tenant = freshTenant();
    await port.put(text('a', ''), write(tenant));
    await port.put(text('a/b', 'below'), write(tenant));
    assert.deepEqual((await port.get(at('a'), read(tenant)))?.bytes, new Uint8Array());
    assert.deepEqual((await port.get(at('a/b'), read(tenant)))?.bytes, bytesOf('below'));
  });

  test('I2: whoever reads while others put sees one of the puts', async () => {
    const { port } = world();
    const tenant = freshTenant();
    const versions = Array.from({ length: 6 }, (_, index) => new Uint8Array(40_000).fill(index));
    await port.put({ ...at('k'), bytes: versions[0]!, contentType: null }, write(tenant));
    const puts = versions.map((bytes) => port.put({ ...at('k'), bytes, contentType: null }, write(tenant)));
    const gets = versions.map(async () => (await port.get(at('k'), read(tenant)))?.bytes);
    for (const bytes of await Promise.all(gets)) assert.deepEqual(bytes, versions[bytes?.[0] ?? 99]);
    await Promise.all(puts);
  });
}

function isolation(world: Open): void {
  test('I1: tenants and buckets share nothing, whatever the names', async () => {
    const { port } = world();
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await port.put(text('k', 'ours'), write(ours));
    await port.put(text('k', 'apart', 'other'), write(ours));
    for (const key of ['k', `${ours}/artifacts/k`, 'artifacts/k', 'other/k']) {
      assert.equal(await port.get(at(key), read(theirs)), null, key);
      assert.deepEqual(await port.delete(at(key), write(theirs)), { deleted: false }, key);
    }
    assert.deepEqual(await port.list(all(), read(theirs)), []);
    await port.put(text('k', 'theirs'), write(theirs));
    assert.deepEqual((await port.get(at('k'), read(ours)))?.bytes, bytesOf('ours'));
    assert.deepEqual(await port.list(all(), read(ours)), [{ key: 'k', sizeBytes: 4 }]);
    assert.deepEqual(await port.list(all('', 'other'), read(ours)), [{ key: 'k', sizeBytes: 5 }]);
  });
}

/** Without keys that begin others: the S3 server of the tests sorts folders before files. */
const KEYS = [
  '#d/1',
  '#d/2',
  'a-',
  'a.txt',
  'a b',
  "a'b",
  'a"b',
  'a%2fb',
  'a%',
  'a+b',
  'a?b=c',
  'a#b',
  'a&b',
  'A',
  'b;c',
  'b*',
  'b[c]',
  'b\\c',
  'b:c',
  'b<c>',
  "b' or 1=1--",
  'é',
  'e\u0301',
  '🙂',
  '~',
  '__proto__',
  '...',
];

function listing(world: Open): void {
  test('keys are listed in byte order, by any prefix, page by page', async () => {
    const { port } = world();
    const tenant = freshTenant();
    await Promise.all(KEYS.map((key) => port.put(text(key, key), write(tenant))));
    const sorted = [...KEYS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const keys = async (prefix: string) => (await port.list(all(prefix), read(tenant))).map(({ key }) => key);
    assert.deepEqual(await keys(''), sorted);
    for (const prefix of ['a', '#d/', 'a%', "b'", 'b\\', '_', '%', '*', 'é', '🙂', 'nothing'])
      assert.deepEqual(
        await keys(prefix),
        sorted.filter((key) => key.startsWith(prefix)),
        prefix,
      );
    const seen: string[] = [];
    for (let last: string | null = null; ; last = seen.at(-1)!) {
      const page: readonly { key: string }[] = await port.list(
        { ...all(), after: last, limit: 5 },
        read(tenant),
      );
      seen.push(...page.map(({ key }) => key));
      if (page.length < 5) break;
    }
    assert.deepEqual(seen, sorted);
    for (const key of KEYS)
      assert.deepEqual((await port.get(at(key), read(tenant)))?.bytes, bytesOf(key), key);
  });
}

function links(world: Open): void {
  /** Servers have clocks of their own. */
  const present = (tenant: string, ago = 0) => read(tenant, Date.now() - ago);

  test('I4: links get and put', async () => {
    const { port, follow } = world();
    const tenant = freshTenant();
    await port.put(text('a b/é', 'content'), write(tenant));
    const get = await port.presign({ ...at('a b/é'), method: 'GET', seconds: 60 }, present(tenant));
    const put = await port.presign({ ...at('new'), method: 'PUT', seconds: 60 }, present(tenant));
    assert.deepEqual(await follow('GET', get), { status: 200, bytes: bytesOf('content') });
    assert.equal((await follow('PUT', put, bytesOf('sent'))).status, 200);
    assert.deepEqual((await port.get(at('new'), read(tenant)))?.bytes, bytesOf('sent'));
  });

  test('I4: links whose time is over are refused where the objects are', async () => {
    const { port, follow } = world();
    const tenant = freshTenant();
    await port.put(text('k', 'content'), write(tenant));
    for (const method of ['GET', 'PUT'] as const) {
      const url = await port.presign({ ...at('k'), method, seconds: 5 }, present(tenant, 6_000));
      assert.equal((await follow(method, url, bytesOf('late'))).status, 403);
    }
    assert.deepEqual((await port.get(at('k'), read(tenant)))?.bytes, bytesOf('content'));
  });
}
