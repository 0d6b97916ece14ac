/** Uploads that stand still: they hold up nobody else, and end by themselves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { madePack } from '../testing/packs.ts';
import { apiKey, type TestRegistry, testRegistry } from '../testing/test-registry.ts';

const settings = { acceptsUnsigned: true, port: 0 };

interface Serving extends TestRegistry {
  readonly url: URL;
  /** Destroyed before the server stops, which else waits for their requests. */
  readonly sockets: Set<Socket>;
}

async function serving(t: TestContext, graceMs: number): Promise<Serving> {
  const sockets = new Set<Socket>();
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const registry = await testRegistry(t, { settings, arrival: { graceMs, bytesPerSecond: 1_024 } });
  const url = new URL(await registry.server.app.listen({ host: '127.0.0.1', port: 0 }));
  return { ...registry, url, sockets };
}

/** The head of an upload and no byte of its body. */
async function idleUpload({ url, sockets }: Serving, name: string, key: string): Promise<Socket> {
  const socket = connect({ port: Number(url.port), host: url.hostname });
  sockets.add(socket);
  await once(socket, 'connect');
  socket.write(
    `PUT /v1/packs/${name}/-/1.0.0.tgz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/gzip\r\nContent-Length: 1000\r\n\r\n',
  );
  return socket;
}

async function claimed(registry: TestRegistry, tenant: string): Promise<string> {
  const key = await apiKey(registry, tenant);
  const url = '/v1/host/gantry/registry/claims';
  const claim = { method: 'POST', url, payload: { namespace: `vendor.${tenant}.*` } } as const;
  assert.equal((await registry.request(claim, key)).statusCode, 201);
  return key;
}

const upload = (url: URL, name: string, key: string, body: Uint8Array) =>
  fetch(new URL(`/v1/packs/${name}/-/1.0.0.tgz`, url), {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/gzip' },
    body: Buffer.from(body),
  });

test('idle uploads of one tenant leave room for others', async (t) => {
  const registry = await serving(t, 600_000);
  const [idle, acme] = [await claimed(registry, 'idle'), await claimed(registry, 'acme')];
  const sockets = await Promise.all(
    Array.from({ length: 16 }, () => idleUpload(registry, 'vendor.idle.tools', idle)),
  );
  // More than its share is refused at once
  const refused = await Promise.race(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
  assert.match(refused, /^HTTP\/1\.1 503 /);
  const published = await upload(registry.url, 'vendor.acme.tools', acme, await madePack());
  assert.equal(published.status, 201, await published.text());
});

test('an upload that stands still is refused and gives its slot back', async (t) => {
  const registry = await serving(t, 100);
  const key = await claimed(registry, 'acme');
  const sockets = await Promise.all(
    Array.from({ length: 8 }, () => idleUpload(registry, 'vendor.acme.tools', key)),
  );
  for (const socket of sockets)
    assert.match(
      String((await once(socket, 'data'))[0]),
      /^HTTP\/1\.1 400 [\s\S]*\r\nconnection: close\r\n[\s\S]*too slowly/i,
    );
  const published = await upload(registry.url, 'vendor.acme.tools', key, await madePack());
  assert.equal(published.status, 201, await published.text());
});

test('a name of another tenant is refused before its body is read', async (t) => {
  const registry = await serving(t, 600_000);
  await claimed(registry, 'rival');
  const key = await apiKey(registry, 'acme');
  const socket = await idleUpload(registry, 'vendor.rival.tools', key);
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 403 /);
});

test('a request that is not HTTP is answered, and its socket closed though its client does not', async (t) => {
  const { url, server } = await serving(t, 600_000);
  const accepted = once(server.app.server, 'connection');
  const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
  t.after(() => socket.destroy());
  const [served] = await accepted;
  const closed = once(served, 'close');
  socket.write('NONSENSE\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 400 /);
  await closed;
});
