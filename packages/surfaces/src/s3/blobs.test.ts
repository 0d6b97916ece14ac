import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readS3Address } from '@gantry/store';
import { blobsPort } from '../capabilities/blob/surface.ts';
import { openPort } from '../open-port.ts';
import { OBJECT_BYTES_MAX } from '../ports/blobs.ts';
import { blobContract } from '../ports/blobs-contract.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { openDeps, withBackends } from '../testing/open-deps.ts';
import { openTestS3, useTestCredentials } from '../testing/s3.ts';
import { openS3Blobs } from './blobs.ts';

useTestCredentials();
const addressOf = (endpoint: string) =>
  readS3Address(new URL(`s3://objects/some/prefix/?endpoint=${endpoint}`));

blobContract('S3', async () => {
  const server = await openTestS3('objects');
  const port = await openS3Blobs(addressOf(`http://${server.host}:${server.port}`));
  return {
    port,
    async follow(method, url, body) {
      const answer = await fetch(url, {
        method,
        ...(method === 'PUT' && body && { body: Buffer.from(body) }),
      });
      return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
    },
    async close() {
      await port.close();
      await server.close();
    },
  };
});

test('a server that goes away is said to be away, and is used again when it is back', async (t) => {
  const server = await openTestS3('objects');
  const gate = await openGate(server);
  const port = await openS3Blobs(addressOf(`http://127.0.0.1:${gate.port}`));
  t.after(async () => {
    await port.close();
    await gate.close();
    await server.close();
  });
  const tenant = freshTenant();
  const object = { bucket: 'artifacts', key: 'k', bytes: new Uint8Array(2), contentType: null };
  await port.put(object, write(tenant));
  await gate.shut();
  const away = { code: 'storage_unavailable', message: /^S3 at http:.*objects .*Try again later/ };
  await assert.rejects(port.get(object, read(tenant)), away);
  await assert.rejects(port.put(object, write(tenant)), away);
  await assert.rejects(port.health(), away);
  await gate.reopen();
  assert.deepEqual((await port.get(object, read(tenant)))?.bytes, object.bytes);
});

test('what a link let in is refused when it is too large, and a missing bucket is not a missing object', async (t) => {
  const server = await openTestS3('objects');
  const endpoint = `http://${server.host}:${server.port}`;
  const port = await openS3Blobs(addressOf(endpoint));
  const lost = await openS3Blobs({ ...addressOf(endpoint), bucket: 'absent' });
  t.after(async () => {
    await Promise.all([port.close(), lost.close()]);
    await server.close();
  });
  const tenant = freshTenant();
  const target = { bucket: 'artifacts', key: 'k' };
  const link = await port.presign({ ...target, method: 'PUT', seconds: 60 }, read(tenant, Date.now()));
  await fetch(link, { method: 'PUT', body: Buffer.alloc(OBJECT_BYTES_MAX + 1) });
  await assert.rejects(port.get(target, read(tenant)), { code: 'blob_object_too_large' });
  await assert.rejects(lost.get(target, read(tenant)), { code: 'storage_unavailable' });
});

/** With an embedded port that is one of these tests. */
async function blobOpener(t: TestContext) {
  const embedded = await openS3Blobs(addressOf('http://minio:9000'));
  const deps = await openDeps(t);
  const open = (blobs?: string) => openPort(blobsPort(embedded), withBackends(deps, { blobs }));
  return { embedded, open };
}

test('settings name a bucket, and nothing else', async (t) => {
  assert.deepEqual(readS3Address(new URL('s3://objects')), { bucket: 'objects', prefix: '' });
  assert.deepEqual(addressOf('http://minio:9000/'), {
    bucket: 'objects',
    prefix: 'some/prefix/',
    endpoint: 'http://minio:9000',
  });
  assert.throws(() => readS3Address(new URL('s3://UP/')), /bucket/);
  assert.throws(() => readS3Address(new URL('s3://key:secret@objects/')), /AWS_SECRET_ACCESS_KEY/);
  const { embedded, open } = await blobOpener(t);
  await assert.rejects(open('ftp://objects'), /GANTRY_BLOBS .*"ftp:.*s3:/);
  assert.equal((await open('s3://objects?region=eu-west-1')).kind, 's3');
  assert.equal((await open()).port, embedded);
});

test('what is wrong in a setting is named, with an example and without its secrets', async (t) => {
  const { open } = await blobOpener(t);
  const wrong: Readonly<Record<string, RegExp>> = {
    's3://objects?endpoint=minio:9000': /`endpoint`/,
    's3://objects?endpoint=minio.example.org': /`endpoint`/,
    's3://objects?endpoint=': /`endpoint`/,
    's3://objects?endpoint=https://': /`endpoint`/,
    's3://objects?endpoint=ftp://minio': /`endpoint`/,
    's3://objects?endpoint=https://key:hush@minio': /`endpoint`/,
    's3://objects?endpoint=https://minio?hush=1': /`endpoint`/,
    's3://objects?endpont=https://minio': /Only the query parameters `endpoint` and `region`/,
    's3://objects?region=': /`region`/,
    's3://objects?region=hush!': /`region`/,
    's3://objects/100%': /prefix/,
    's3://-hush/': /bucket/,
  };
  for (const [setting, part] of Object.entries(wrong))
    await assert.rejects(open(setting), (error: Error) => {
      assert.match(error.message, /^GANTRY_BLOBS: /);
      assert.match(error.message, part, setting);
      assert.match(error.message, /as in s3:\/\/bucket\/prefix\?endpoint=https:\/\//);
      assert.doesNotMatch(error.message, /hush/);
      return true;
    });
});
