/** Each kind of server, private, and as careful with its data as our documentation asks for. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { connect as connectRabbit } from 'amqplib';
import { createConnection } from 'mysql2/promise';
import postgres from 'postgres';
import { findBinaries } from '../../../store/src/testing/postgres-binaries.ts';
import { type CrashServer, noProc, openKillable } from './crash-server.ts';
import { freshFolder } from './data-dir.ts';
import { binary, freePort, missing } from './servers.ts';

/** A private server, or why there is none. */
export type FoundServer = { readonly open: () => Promise<CrashServer> } | { readonly skip: string };

const found = (open: (() => Promise<CrashServer>) | null, remedy: string): FoundServer => {
  if (noProc !== false) return { skip: noProc };
  return open ? { open } : { skip: missing('private server', remedy) };
};

export async function findCrashPostgres(): Promise<FoundServer> {
  const binaries = await findBinaries();
  if ('skip' in binaries) return found(null, binaries.skip);
  const { initdb, postgres: server, runAs } = binaries;
  return found(async () => {
    const folder = freshFolder().path;
    const { uid, gid } = runAs;
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const data = join(folder, 'data');
    const settings = ['--pgdata', data, '--username', 'gantry', '--auth', 'trust', '--encoding', 'UTF8'];
    run(initdb, [...settings, '--locale', 'C', '--no-sync'], { ...runAs, cwd: folder });
    const port = String(await freePort());
    const url = `postgres://gantry@127.0.0.1:${port}/postgres`;
    // It refuses to be root
    const as = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    const sockets = ['-c', 'unix_socket_directories='];
    const command = [...as, server, '-D', data, '-p', port, '-h', '127.0.0.1', ...sockets];
    return openKillable({
      url,
      command,
      folder,
      pidFile: join(data, 'postmaster.pid'),
      ask: () => askPostgres(url),
    });
  }, 'install PostgreSQL on this machine');
}

async function askPostgres(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

export function findCrashNats(): FoundServer {
  const server = binary('nats-server');
  if (!server) return found(null, 'install nats-server on this machine');
  return found(async () => {
    const folder = freshFolder().path;
    const [port, pidFile] = [await freePort(), join(folder, 'pid')];
    const command = [server, '-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port), '-P', pidFile];
    return openKillable({
      url: `nats://127.0.0.1:${port}`,
      command,
      folder,
      pidFile,
      ask: () => greeted(port),
    });
  }, '');
}

async function greeted(port: number): Promise<void> {
  const socket = connectSocket({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'data');
  } finally {
    socket.destroy();
  }
}

export function findCrashMysql(): FoundServer {
  const [server, installer] = [binary('mariadbd'), binary('mariadb-install-db')];
  if (!server || !installer) return found(null, 'install mariadb-server on this machine');
  return found(async () => {
    const folder = freshFolder().path;
    const [data, pidFile, port] = [join(folder, 'data'), join(folder, 'pid'), await freePort()];
    const user = process.getuid?.() === 0 ? ['--user=root'] : [];
    const where = ['--no-defaults', `--datadir=${data}`, ...user];
    run(installer, [...where, '--auth-root-authentication-method=normal'], { cwd: folder });
    const command = [
      server,
      ...where,
      `--port=${port}`,
      `--socket=${join(folder, 's')}`,
      `--pid-file=${pidFile}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--innodb-buffer-pool-size=16M',
      '--performance-schema=OFF',
      '--innodb-log-file-size=8M',
      '--innodb-flush-log-at-trx-commit=1',
    ];
    const url = `mysql://root@127.0.0.1:${port}/mysql`;
    const ask = async () => (await createConnection(url)).end();
    return openKillable({ url, command, folder, pidFile, ask });
  }, '');
}

const RABBITS = ['/usr/lib/rabbitmq/bin/rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server'];

export function findCrashRabbit(): FoundServer {
  const [server, epmd] = [RABBITS.find(existsSync), binary('epmd')];
  if (!server || !epmd) return found(null, 'install rabbitmq-server on this machine');
  return found(async () => {
    const folder = freshFolder().path;
    const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
    const [pidFile, plugins] = [join(folder, 'pid'), join(folder, 'plugins')];
    mkdirSync(join(folder, 'log'));
    writeFileSync(plugins, '[].');
    const env = {
      ERL_EPMD_PORT: String(epmdPort),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      HOME: folder,
      RABBITMQ_NODENAME: `gantry${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(distPort),
      RABBITMQ_PID_FILE: pidFile,
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
      RABBITMQ_CONFIG_FILE: join(folder, 'none'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-start_epmd false',
    };
    const url = `amqp://guest:guest@127.0.0.1:${port}`;
    const ask = async () => (await connectRabbit(url)).close();
    // Erlang's name server would outlive the one that started it, so it is started here; a second one ends at once
    const command = ['sh', '-c', `"$0" & exec "$1"`, epmd, server];
    return openKillable({ url, command, folder, pidFile, env, ask });
  }, '');
}

const S3_SCRIPT = join(import.meta.dirname, 'crash-s3.ts');
export const CRASH_BUCKET = 'crash';

export function findCrashS3(): FoundServer {
  return found(async () => {
    const folder = freshFolder().path;
    const [port, pidFile] = [await freePort(), join(folder, 'pid')];
    const command = [process.execPath, '--no-warnings', S3_SCRIPT, folder, String(port), CRASH_BUCKET];
    const endpoint = `http://127.0.0.1:${port}`;
    const url = `s3://${CRASH_BUCKET}?endpoint=${encodeURIComponent(endpoint)}`;
    return openKillable({ url, command, folder, pidFile, ask: () => fetch(endpoint) });
  }, '');
}

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly uid?: number },
): void {
  const { status, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}
