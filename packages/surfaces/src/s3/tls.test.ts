/** A server behind TLS, with certificates of a CA of our own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import { createServer, type TLSSocket } from 'node:tls';
import { readS3Address } from '@gantry/store';
import { ServerError } from '../backend-errors.ts';
import { type Certificate, certificateSkip, createAuthority } from '../testing/certificates.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openTestS3, useTestCredentials } from '../testing/s3.ts';
import { openS3Blobs } from './blobs.ts';

useTestCredentials();
const folder = freshFolder();
after(folder.remove);

const ours = certificateSkip ? null : createAuthority(folder.path, 'ours');
const strange = certificateSkip ? null : createAuthority(folder.path, 'strange');
ours?.trust();

const NAMES = { ip: 'IP:127.0.0.1', local: 'DNS:localhost' };
const sign = (authority: typeof ours, name: string, days?: number): Certificate => {
  assert.ok(authority);
  return authority.sign(name, days);
};
const read = ({ cert, key }: Certificate) => ({ cert: readFileSync(cert), key: readFileSync(key) });

const refusal = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServerError && error.trouble === 'rejected', String(error));
  assert.match(error.message, why);
  assert.doesNotMatch(error.forPack().message, /127\.0\.0\.1/);
  return true;
};
const UNKNOWN = /an unknown authority .*NODE_EXTRA_CA_CERTS .*restart the host/;
const OTHER_NAME = /a certificate for another host name/;
const EXPIRED = /a certificate that has expired \(CERT_HAS_EXPIRED\)/;

/** Ends TLS in front of a server that has none. */
async function openTls(t: TestContext, certificate: Certificate) {
  const target = await openTestS3('objects');
  const sockets = new Set<TLSSocket>();
  const server = createServer(read(certificate), (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    const onward = connect(target).on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address);
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(async () => {
    hangUp();
    server.close();
    await target.close();
  });
  const open = async (scheme = 'https', host = '127.0.0.1') => {
    const endpoint = `${scheme}://${host}:${address.port}`;
    const port = await openS3Blobs(readS3Address(new URL(`s3://objects?endpoint=${endpoint}`)));
    t.after(() => port.close());
    return port;
  };
  /** As a server that starts again with it. */
  const use = (next: Certificate) => {
    server.setSecureContext(read(next));
    hangUp();
  };
  return { open, use };
}

describe('S3 behind TLS', { skip: certificateSkip }, () => {
  test('the certificate is that of the address, by IP address or by name', async (t) => {
    const { open, use } = await openTls(t, sign(ours, NAMES.ip));
    await (await open()).health();
    await assert.rejects((await open('https', 'localhost')).health(), refusal(OTHER_NAME));
    use(sign(ours, NAMES.local));
    await assert.rejects((await open()).health(), refusal(OTHER_NAME));
    await (await open('https', 'localhost')).health();
    await assert.rejects((await open('http')).health(), { trouble: 'unreachable' });
  });

  test('one that goes bad while the host runs is told, and heals when it is mended', async (t) => {
    const good = sign(ours, NAMES.ip);
    const { open, use } = await openTls(t, good);
    const port = await open();
    await port.health();
    for (const [bad, why] of [
      [sign(strange, NAMES.ip), UNKNOWN],
      [sign(ours, NAMES.ip, -1), EXPIRED],
    ] as const) {
      use(bad);
      await assert.rejects(port.health(), refusal(why));
      await assert.rejects((await open()).health(), refusal(why));
    }
    use(good);
    await port.health();
  });

  test('a server without TLS is told so', async (t) => {
    const { host, port, close } = await openTestS3('objects');
    t.after(close);
    const endpoint = `https://${host}:${port}`;
    const blobs = await openS3Blobs(readS3Address(new URL(`s3://objects?endpoint=${endpoint}`)));
    t.after(() => blobs.close());
    await assert.rejects(blobs.health(), refusal(/does not speak TLS/));
  });
});
