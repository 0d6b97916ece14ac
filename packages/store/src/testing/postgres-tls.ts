/** A PostgreSQL of this process that takes encrypted connections alone, with an authority of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from './postgres-binaries.ts';
import { type ServerCertificate, startServer } from './postgres-process.ts';

export interface TlsServer {
  /** Of its administrator, without a parameter. */
  readonly url: string;
  /** What to trust for its certificate, which is for the address 127.0.0.1 alone. */
  readonly authority: string;
}

/** With `CI=true` a missing server is an error, so that it cannot go unnoticed. */
export async function startTlsServer(): Promise<TlsServer | { skip: string }> {
  const found = await start();
  if ('skip' in found && process.env.CI === 'true') throw new Error(`No PostgreSQL with TLS: ${found.skip}`);
  return found;
}

async function start(): Promise<TlsServer | { skip: string }> {
  const binaries = await findBinaries();
  if ('skip' in binaries) return binaries;
  const certificates = makeCertificates('IP:127.0.0.1');
  if ('skip' in certificates) return certificates;
  const { authority, server } = certificates;
  return { url: await startServer(binaries, server), authority };
}

interface Certificates {
  readonly authority: string;
  readonly server: ServerCertificate;
}

/** `names`: what the certificate is for, `DNS:localhost,IP:127.0.0.1`. Node can make no certificates itself. */
function makeCertificates(names: string): Certificates | { skip: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-certificates-'));
  try {
    const openssl = (command: string): boolean =>
      spawnSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' }).status === 0;
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout';
    const signed = 'x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names';
    writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
    const isMade =
      openssl(`req -x509 ${key} ca.key -out ca.pem -days 2 -subj /CN=authority`) &&
      openssl(`req ${key} server.key -out server.csr -subj /CN=server`) &&
      openssl(`${signed} -in server.csr -out server.pem`);
    if (!isMade) return { skip: 'install openssl: it makes the certificates' };
    return {
      authority: read('ca.pem'),
      server: { key: read('server.key'), certificate: read('server.pem') },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
