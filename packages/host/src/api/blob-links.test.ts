/** The largest object through its links, over real connections. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';

const MIB = 1_048_576;
const TYPE = 'vendor.acme.link';

async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield new Uint8Array(MIB).fill(n);
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

const LINKS = `
  const place = { bucket: 'artifacts', key: 'large', expiresInSeconds: 60 };
  const link = async (method) => (await ctx.storage.blob.presign({ ...place, method })).url;
  return { get: await link('GET'), put: await link('PUT') };`;

/** A host that listens, and links to one object of it. */
async function linked(t: TestContext) {
  const api = await packTest(t);
  const origin = await api.host.app.listen({ host: '127.0.0.1', port: 0 });
  await api.install({ nodes: { [TYPE]: { body: LINKS, role: 'side-effect' } }, manifest: {} });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const { get, put } = (await api.ended(await api.start('one'))).outputs as { get: string; put: string };
  const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/, '');
  return { api, path: pathOf(get), get: `${origin}${pathOf(get)}`, put: `${origin}${pathOf(put)}` };
}

test('an object is kept with any content type, and as what it is: nothing of it is read on the way', async (t) => {
  const { get, put } = await linked(t);
  const json = Buffer.from(`{"not": "closed", ${'"a":1,'.repeat(900_000)}`);
  assert.ok(json.byteLength > 5 * MIB);
  const none = 'application/octet-stream';
  for (const [type, kept] of [
    ['application/json', 'application/json'],
    ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['text/plain;charset=UTF-8', 'text/plain;charset=UTF-8'],
    ['multipart/form-data; boundary=----x', 'multipart/form-data; boundary=----x'],
    ...['weird', '', '/', 'text/plain; charset'].map((odd) => [odd, none] as const),
  ] as const) {
    const written = await fetch(put, { method: 'PUT', body: json, headers: { 'content-type': type } });
    assert.equal(written.status, 200, `${type}: ${await written.text()}`);
    const answer = await fetch(get);
    assert.equal(answer.headers.get('content-type'), kept);
    assert.ok(json.equals(Buffer.from(await answer.arrayBuffer())), type);
  }
  const empty = await fetch(put, { method: 'PUT', headers: { 'content-type': 'application/json' } });
  assert.equal(empty.status, 200);
  assert.equal((await (await fetch(get)).arrayBuffer()).byteLength, 0);
});

test('an object of 32 MiB goes in and out by links; one byte more is refused and changes nothing', async (t) => {
  const { api, path, get, put } = await linked(t);
  const upload = (content: AsyncIterable<Uint8Array>) =>
    fetch(put, { method: 'PUT', body: ReadableStream.from(content), duplex: 'half' });
  const written = await upload(mebibytes(32));
  assert.deepEqual([written.status, await written.text()], [200, '']);
  const answer = await fetch(get);
  assert.deepEqual([answer.status, answer.headers.get('content-length')], [200, String(32 * MIB)]);
  assert.equal(await digestOf(answer.body!), await digestOf(mebibytes(32)));
  const tooLarge = await upload(
    (async function* () {
      yield* mebibytes(32);
      yield new Uint8Array(1);
    })(),
  );
  assert.equal(tooLarge.status, 413);
  assert.equal(((await tooLarge.json()) as { error: string }).error, 'blob_object_too_large');
  const kept = await api.host.app.inject({ url: path });
  assert.equal(kept.rawPayload.byteLength, 32 * MIB);
});
