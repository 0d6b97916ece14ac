/** A large archive passes through the process; it never lies in its memory. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGzip } from 'node:zlib';
import { ARCHIVE_LIMITS } from '@gantry/packs';
import { TAR_END, tarEntry } from '../../../packs/src/testing/tar.ts';
import { nodeManifest } from '../testing/packs.ts';
import { ADMIN_KEY, testRegistry } from '../testing/test-registry.ts';

const MIB = 1024 * 1024;
const FILES = 52;
/** So much passes between one look at the memory and the next. */
const STRIDE = 4 * MIB;
const LIMITS = { ...ARCHIVE_LIMITS, archiveBytesMax: 64 * MIB, totalBytesMax: 64 * MIB };

/** Bytes that no gzip makes smaller, a file at a time; so none tries. */
function* largeTar(look: () => void): Generator<Buffer> {
  yield tarEntry({ name: 'pack.json', content: JSON.stringify(nodeManifest()) });
  yield tarEntry({ name: 'index.mjs', content: 'export const nodes = {};' });
  yield tarEntry({ name: 'schemas/echo.input.json', content: '{}' });
  for (let index = 0; index < FILES; index++) {
    if ((index * MIB) % STRIDE === 0) look();
    yield tarEntry({ name: `data/${index}.bin`, content: randomBytes(MIB) });
  }
  yield TAR_END;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * What is still in use, once everything that nobody needs is gone. Buffers are freed by a thread of their own, which a
 * busy machine may keep waiting: the second collection waits for it.
 */
function liveBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/**
 * The most that is in use whenever `work` looks, above what is in use before. A timer that looked would leave
 * a busy machine no time for the work.
 */
async function growth(work: (look: () => void) => Promise<void>): Promise<{ bytes: number; looks: number }> {
  const start = liveBytes();
  let [most, looks] = [start, 0];
  const look = (): void => {
    most = Math.max(most, liveBytes());
    looks++;
  };
  await work(look);
  return { bytes: most - start, looks };
}

async function send(url: string, look: () => void): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/gzip' };
  const sending = request(url, { method: 'PUT', headers, agent: false });
  const status = new Promise<number>((resolve, reject) => {
    sending.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', reject);
  });
  await pipeline(Readable.from(largeTar(look), { highWaterMark: 1 }), createGzip({ level: 0 }), sending);
  return status;
}

test('publishing and reading 52 MB takes a fraction of it in memory', async (t) => {
  const settings = { acceptsUnsigned: true, port: 0 };
  const { server } = await testRegistry(t, { limits: LIMITS, settings });
  const base = await server.app.listen({ host: '127.0.0.1', port: 0 });
  const url = `${base}/v1/packs/vendor.acme.tools/-/1.0.0.tgz`;
  let status = 0;
  let bytes = 0;
  const { bytes: grown, looks } = await growth(async (look) => {
    status = await send(url, look);
    const [archive] = await once(request(url, { agent: false }).end(), 'response');
    for await (const chunk of archive) {
      if (Math.floor(bytes / STRIDE) < Math.floor((bytes + chunk.length) / STRIDE)) look();
      bytes += chunk.length;
    }
  });
  assert.equal(status, 201);
  assert.ok(bytes > FILES * MIB, `${bytes} bytes were served`);
  assert.equal(bytes, (await server.registry.catalogue.version('vendor.acme.tools', '1.0.0'))?.archiveBytes);
  assert.ok(looks >= 20, `memory was looked at ${looks} times`);
  // Client, server and compression of this test together, and what is freed a little later; the archive alone
  // would be 52 MiB.
  assert.ok(grown < 36 * MIB, `the process grew by ${Math.round(grown / MIB)} MiB`);
});
