/**
 * A MariaDB or MySQL for tests: the one at `GANTRY_TEST_MYSQL_URL`, else a private server of this process from the
 * binaries of this machine. It ends, and takes its data along, when this process does (kill -9 included).
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type FoundMysql = { readonly url: string } | { readonly skip: string };

const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];
const NOBODY = 65_534;

/** With `CI=true` a missing server is an error, so that it cannot go unnoticed. */
export async function findMysql(): Promise<FoundMysql> {
  const url = process.env.GANTRY_TEST_MYSQL_URL;
  if (url) return { url };
  const [server, installer] = [binary('mariadbd'), binary('mariadb-install-db')];
  if (server && installer) return { url: await start(server, installer) };
  const skip = 'set GANTRY_TEST_MYSQL_URL, or install mariadb-server on this machine';
  if (process.env.CI === 'true') throw new Error(`No MySQL for the tests: ${skip}`);
  return { skip };
}

const binary = (name: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** The shell waits for the end of its input, which comes when this process is gone, whatever ended it; so is stderr. */
const GUARD = `
  folder=$0
  "$@" &
  server=$!
  cat > /dev/null
  exec 2> /dev/null
  kill -KILL $server
  wait $server
  rm -rf "$folder"
`;

async function start(server: string, installer: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-mariadb-'));
  const runAs = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (runAs.uid !== undefined) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, 'data');
  const { status, stderr } = spawnSync(
    installer,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { ...runAs, cwd: folder, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`mariadb-install-db failed: ${stderr}`);
  const port = await freePort();
  const settings = [
    '--no-defaults',
    `--datadir=${data}`,
    `--socket=${join(folder, 's')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-buffer-pool-size=16M',
    '--performance-schema=OFF',
    '--skip-name-resolve',
    '--innodb-log-file-size=8M',
  ];
  const child = spawn('sh', ['-c', GUARD, folder, server, ...settings], {
    ...runAs,
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const seen: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    seen.push(line);
    if (line.includes('ready for connections')) break;
    if (line.includes('[ERROR]')) throw new Error(`MariaDB did not start: ${seen.join('\n')}`);
  }
  child.stderr.resume();
  child.unref();
  for (const stream of [child.stdin, child.stderr]) if ('unref' in stream) (stream.unref as () => void)();
  return `mysql://root@127.0.0.1:${port}/`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no loopback port');
  return address.port;
}
