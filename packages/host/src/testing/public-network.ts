/**
 * Tests that reach a public address: their file runs again in a network namespace of its own, where that address is
 * this machine. No setting of the host opens anything for them.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { selfSigned } from '../../../egress/src/testing/certificate.ts';
import { LOADERS } from '../../../protocol/src/testing/loaders.ts';
import type { Lifetime } from './one-per-file.ts';

const INSIDE = 'GANTRY_TEST_PUBLIC_NETWORK';
/** Outside of every private range; nobody else is there inside the namespace. */
export const PUBLIC_ADDRESS = '93.184.216.34';
const ENTER = ['unshare', '-Urn', 'sh', '-c'];
const PREPARE = `ip link set lo up && ip addr add ${PUBLIC_ADDRESS}/32 dev lo`;
/** Root of a namespace has no other users, which the sandbox of a root wants; so the tests are not root. */
const LEAVE_ROOT = 'unshare -U --map-user=1000 --map-group=1000';

/** Registers `tests` where the address is, else one test that runs the file there. */
export async function onPublicNetwork(meta: ImportMeta, tests: () => void | Promise<void>): Promise<void> {
  if (process.env[INSIDE] !== undefined) return tests();
  const [program, ...words] = ENTER;
  const skip =
    spawnSync(program!, [...words, `${PREPARE} && ${LEAVE_ROOT} true`]).status !== 0 &&
    'no network namespaces here';
  test('on a network with a public address', { skip }, async () => {
    const command = `${PREPARE} && exec ${LEAVE_ROOT} "$0" "$@"`;
    const args = [...words, command, process.execPath, ...LOADERS, fileURLToPath(meta.url)];
    // No server outside is reached from there
    const { NODE_TEST_CONTEXT: _, GANTRY_TEST_POSTGRES_URL: _url, ...env } = process.env;
    const child = spawn(program!, args, {
      env: { ...env, [INSIDE]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
    const [code] = await once(child, 'close');
    assert.equal(code, 0, said.join(''));
  });
}

const certificate = selfSigned({ ipv4: [PUBLIC_ADDRESS] });

/** For hosts in this process. */
export const trustPublicServer = (): void =>
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);

/** For hosts in processes of their own: what `NODE_EXTRA_CA_CERTS` names. */
export const publicCertificate = certificate.cert;

/** An https server at the public address; answers its origin. */
export async function publicServer(t: Lifetime, handler: RequestListener): Promise<string> {
  const server = createServer(certificate, handler).listen(0, PUBLIC_ADDRESS);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://${PUBLIC_ADDRESS}:${(server.address() as AddressInfo).port}`;
}
