/** What objects that the host serves itself must do beside the contract of the port: I3, quotas and uploads. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import type { HostedBlobs } from '../capabilities/blob/hosted-blobs.ts';
import { assertSealed, NOW, read, write } from '../testing/calls.ts';
import { OBJECT_OVERHEAD_BYTES } from './blobs.ts';
import { bytesOf } from './blobs-contract.ts';

export interface OpenedHostedBlobs {
  readonly port: HostedBlobs;
  /** How many contents are kept, named by an object or not. */
  contents(): Promise<number>;
  /** Of all that is unreachable. */
  sweep(now: number): Promise<unknown>;
}

type Open = (t: TestContext, quotaBytes: number) => Promise<OpenedHostedBlobs>;

const QUOTA = 200_000;
const LINKS = 'http://host.test';
export const TEST_LINKS = { key: new Uint8Array(32).fill(3), publicUrl: () => LINKS };

export async function followed(
  port: HostedBlobs,
  method: string,
  url: string,
  body: Uint8Array = new Uint8Array(),
) {
  const sent = async function* () {
    yield body;
  };
  try {
    const request = { method, url: url.replace(LINKS, ''), body: sent(), now: Date.now() };
    const { status, body: answer } = await port.servePresigned(request);
    return { status, bytes: new Uint8Array(answer ? await buffer(answer) : []) };
  } catch (error) {
    if (error instanceof OpenwopError) return { status: error.status, bytes: new Uint8Array() };
    throw error;
  }
}

export const object = (content: string, key = 'k') => ({
  bucket: 'artifacts',
  key,
  bytes: bytesOf(content),
  contentType: null,
});

/** `open` is asked once for each test. */
export function hostedBlobContract(name: string, open: Open): void {
  describe(`objects that the host serves: ${name}`, () => {
    journal(open);
    quotas(open);
    uploads(open);
  });
}

function journal(open: Open): void {
  test('the same invocation again changes nothing, and another with its id is refused', async (t) => {
    const { port, contents } = await open(t, QUOTA);
    const call = { id: 'call', method: 'blobStorage.put', input: 'one' };
    await port.put(object('one'), write('acme', call));
    await port.put(object('two'), write('acme'));
    assert.deepEqual(await port.put(object('one'), write('acme', call)), { sizeBytes: 3 });
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
    assert.deepEqual(await port.put(object('x'), write('acme', { ...call, input: 'x' })), { sizeBytes: 3 });
    await assert.rejects(port.put(object('x'), write('acme', { ...call, method: 'blobStorage.delete' })), {
      code: 'idempotency_key_mismatch',
    });
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
    assert.equal(await contents(), 1, 'what was put in vain leaves nothing');
    const removal = { id: 'removal' };
    assert.deepEqual(await port.delete(object(''), write('acme', removal)), { deleted: true });
    assert.deepEqual(await port.delete(object(''), write('acme', removal)), { deleted: true });
    await assertSealed('acme', (sealed) => port.put(object('three'), sealed));
  });

  test('replaced and deleted content is gone at once; what is left of it goes with the sweep', async (t) => {
    const { port, contents, sweep } = await open(t, QUOTA);
    for (const content of ['one', 'two']) await port.put(object(content), write('acme'));
    await port.put(object('gone', 'other'), write('acme'));
    await port.delete(object('', 'other'), write('acme'));
    assert.equal(await contents(), 1);
    await sweep(NOW + 600_001);
    assert.equal(await contents(), 1);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
  });
}

function quotas(open: Open): void {
  test('a tenant has its quota, and a replaced object makes room', async (t) => {
    const { port, contents } = await open(t, QUOTA);
    const large = (key: string) => ({ ...object('', key), bytes: new Uint8Array(150_000) });
    await port.put(large('a'), write('acme'));
    await assert.rejects(port.put(large('b'), write('acme')), { code: 'blob_quota_exhausted' });
    await port.put(large('a'), write('acme'));
    await port.put(large('b'), write('other'));
    await port.delete(large('a'), write('acme'));
    await port.put(large('b'), write('acme'));
    assert.equal(await contents(), 2, 'what was refused leaves nothing');
  });

  test('empty objects take room too', async (t) => {
    const { port } = await open(t, 2 * OBJECT_OVERHEAD_BYTES);
    for (const key of ['a', 'b', 'b']) await port.put(object('', key), write('acme'));
    await assert.rejects(port.put(object('', 'c'), write('acme')), { code: 'blob_quota_exhausted' });
    await assert.rejects(port.put(object('x', 'b'), write('acme')), { code: 'blob_quota_exhausted' });
    await port.delete(object('', 'a'), write('acme'));
    await port.put(object('x', 'b'), write('acme'));
  });
}

function uploads(open: Open): void {
  test('an upload that breaks off or is too large leaves nothing, and the object as it was', async (t) => {
    const { port, contents } = await open(t, QUOTA);
    await port.put(object('old'), write('acme'));
    const link = { bucket: 'artifacts', key: 'k', method: 'PUT', seconds: 60 } as const;
    const url = (await port.presign(link, read('acme', Date.now()))).replace(LINKS, '');
    const upload = (body: AsyncIterable<Uint8Array>) =>
      port.servePresigned({ method: 'PUT', url, body, now: Date.now() });
    const broken = async function* () {
      yield new Uint8Array(1_000);
      throw new Error('ECONNRESET');
    };
    await assert.rejects(upload(broken()), { code: 'validation_error', message: /ended before/ });
    let sent = 0;
    const endless = async function* () {
      for (const mebibyte = new Uint8Array(1_048_576); ; sent++) yield mebibyte;
    };
    await assert.rejects(upload(endless()), { code: 'blob_object_too_large' });
    assert.equal(sent, 32, 'no more is read than may be');
    assert.equal(await contents(), 1);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('old'));
  });

  test('whoever reads by a link gets the whole object, also when it is replaced meanwhile', async (t) => {
    const { port, contents, sweep } = await open(t, 10_000_000);
    const bytes = new Uint8Array(randomBytes(3_500_000));
    await port.put({ ...object(''), bytes }, write('acme'));
    const link = { bucket: 'artifacts', key: 'k', method: 'GET', seconds: 60 } as const;
    const url = (await port.presign(link, read('acme', Date.now()))).replace(LINKS, '');
    const request = { method: 'GET', url, body: Readable.from([]), now: Date.now() };
    const { body, headers } = await port.servePresigned(request);
    assert.equal(headers['content-length'], String(bytes.byteLength));
    await port.put(object('new'), write('acme'));
    await sweep(Date.now());
    assert.deepEqual(new Uint8Array(await buffer(body!)), bytes);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('new'));
    await sweep(Date.now() + 3_600_000);
    assert.equal(await contents(), 1, 'nothing is left of it');
  });
}
