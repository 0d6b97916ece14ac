/** The largest object through its links, over real connections. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
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

test('an object of 32 MiB goes in and out by links; one byte more is refused and changes nothing', async (t) => {
  const api = await packTest(t);
  const origin = await api.host.app.listen({ host: '127.0.0.1', port: 0 });
  const body = `
    const place = { bucket: 'artifacts', key: 'large', expiresInSeconds: 60 };
    const link = async (method) => (await ctx.storage.blob.presign({ ...place, method })).url;
    return { get: await link('GET'), put: await link('PUT') };`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } }, manifest: {} });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const { get, put } = (await api.ended(await api.start('one'))).outputs as { get: string; put: string };
  const at = (url: string): string => `${origin}${url.replace(/^https?:\/\/[^/]*/, '')}`;
  const upload = (content: AsyncIterable<Uint8Array>) =>
    fetch(at(put), { method: 'PUT', body: ReadableStream.from(content), duplex: 'half' });
  const written = await upload(mebibytes(32));
  assert.deepEqual([written.status, await written.text()], [200, '']);
  const answer = await fetch(at(get));
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
  const kept = await api.host.app.inject({ url: get.replace(/^https?:\/\/[^/]*/, '') });
  assert.equal(kept.rawPayload.byteLength, 32 * MIB);
});
