/** Starts a private server that ends, and takes its data along, when this process does (kill -9 included). */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Binaries, RunAs } from './postgres-binaries.ts';

/** Another process may get the port between the look and the start. */
const TRIES_MAX = 3;

/** PEM texts. */
export interface ServerCertificate {
  readonly key: string;
  readonly certificate: string;
}

/** Nothing has to survive a test. */
const UNSYNCED = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];

/** Answers the address of its administrator. With a certificate it takes encrypted connections alone. */
export async function startServer(
  binaries: Binaries,
  tls?: ServerCertificate,
  settings: readonly string[] = UNSYNCED,
): Promise<string> {
  for (let tries = 1; ; tries++)
    try {
      return await start(binaries, tls, settings);
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
    }
}

async function start(
  binaries: Binaries,
  tls: ServerCertificate | undefined,
  settings: readonly string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-postgres-data-'));
  const password = randomBytes(16).toString('hex');
  initialise(binaries, folder, password);
  if (tls) secure(binaries, join(folder, 'data'), tls);
  const port = await freePort();
  await run(binaries, folder, port, settings);
  return `postgres://gantry:${password}@127.0.0.1:${port}/postgres`;
}

function initialise({ initdb, runAs }: Binaries, folder: string, password: string): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [folder, passwordFile]) giveTo(runAs, path);
  const { status, stderr } = spawnSync(
    initdb,
    [
      '--pgdata',
      join(folder, 'data'),
      '--username',
      'gantry',
      '--pwfile',
      passwordFile,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--no-sync',
    ],
    { ...runAs, cwd: folder, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** Its own names for the two files. */
function secure({ runAs }: Binaries, folder: string, { key, certificate }: ServerCertificate): void {
  const files = { 'server.key': key, 'server.crt': certificate };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    giveTo(runAs, join(folder, name));
  }
  appendFileSync(join(folder, 'postgresql.conf'), 'ssl = on\n');
  writeFileSync(join(folder, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
}

function giveTo({ uid, gid }: RunAs, path: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** The shell waits for the end of its input, which comes when this process is gone, whatever ended it. */
const GUARD = `
  folder=$0
  "$@" &
  server=$!
  cat > /dev/null
  kill -QUIT $server
  wait $server
  rm -rf "$folder"
`;

async function run(
  { postgres, runAs }: Binaries,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<void> {
  const child = spawn(
    'sh',
    [
      '-c',
      GUARD,
      folder,
      postgres,
      '-D',
      join(folder, 'data'),
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      ...[...settings, 'max_connections=200', 'unix_socket_directories='].flatMap((setting) => [
        '-c',
        setting,
      ]),
    ],
    { ...runAs, cwd: folder, detached: true, stdio: ['pipe', 'ignore', 'pipe'] },
  );
  const seen: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    seen.push(line);
    if (line.includes('ready to accept connections')) break;
    if (!line.includes('FATAL')) continue;
    child.stdin.end();
    throw new Error(`PostgreSQL did not start: ${seen.join('\n')}`);
  }
  child.stderr.resume();
  child.unref();
  for (const stream of [child.stdin, child.stderr]) if ('unref' in stream) (stream.unref as () => void)();
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no loopback port');
  return address.port;
}
