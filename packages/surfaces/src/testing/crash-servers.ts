/** Private servers that can be killed, each as careful with its data as our documentation asks for. */
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { findBinaries } from '../../../store/src/testing/postgres-binaries.ts';
import { mariadb } from './mariadb.ts';
import { openPrivate, type PrivateServer, privateSkipOf, type ServerKind } from './server-kind.ts';
import { freePort, run } from './servers.ts';

/** A private server, or why there is none. */
export type FoundServer = { readonly open: () => Promise<PrivateServer> } | { readonly skip: string };

function find(kind: ServerKind): FoundServer {
  if (process.platform !== 'linux') return { skip: 'processes of servers are looked up in /proc' };
  const skip = privateSkipOf(kind);
  return skip === false ? { open: () => openPrivate(kind) } : { skip };
}

export const findCrashMysql = (): FoundServer => find(mariadb('--innodb-flush-log-at-trx-commit=1'));
export const findCrashS3 = (): FoundServer => find(S3);
export const findCrashPostgres = async (): Promise<FoundServer> => find(postgresKind(await findBinaries()));

const postgresKind = (found: Awaited<ReturnType<typeof findBinaries>>): ServerKind => ({
  name: 'PostgreSQL',
  remedy: 'install PostgreSQL on this machine',
  prepare:
    'skip' in found
      ? null
      : async (folder) => {
          const { initdb, postgres: server, runAs } = found;
          const { uid, gid } = runAs;
          if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
          const data = join(folder, 'data');
          const settings = [
            '--pgdata',
            data,
            '--username',
            'gantry',
            '--auth',
            'trust',
            '--encoding',
            'UTF8',
          ];
          run(initdb, [...settings, '--locale', 'C', '--no-sync'], { ...runAs, cwd: folder });
          const port = String(await freePort());
          // It refuses to be root
          const as =
            uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
          const sockets = ['-c', 'unix_socket_directories='];
          const url = `postgres://gantry@127.0.0.1:${port}/postgres`;
          return {
            url,
            command: [...as, server, '-D', data, '-p', port, '-h', '127.0.0.1', ...sockets],
            pidFile: join(data, 'postmaster.pid'),
            ask: () => selected(url),
          };
        },
});

async function selected(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

const S3_SCRIPT = join(import.meta.dirname, 'crash-s3.ts');
export const CRASH_BUCKET = 'crash';

const S3: ServerKind = {
  name: 'S3',
  remedy: 'install the development dependencies',
  async prepare(folder) {
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${port}`;
    return {
      url: `s3://${CRASH_BUCKET}?endpoint=${encodeURIComponent(endpoint)}`,
      command: [process.execPath, '--no-warnings', S3_SCRIPT, folder, String(port), CRASH_BUCKET],
      pidFile: join(folder, 'pid'),
      ask: () => fetch(endpoint),
    };
  },
};
