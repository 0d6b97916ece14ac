/** A RabbitMQ: the one at `GANTRY_TEST_AMQP_URL`, else a private one from the binaries of this machine. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { connect } from 'amqplib';
import { freshFolder } from './data-dir.ts';
import { binary, freePort, type GuardedServer, missing, startGuarded } from './servers.ts';

const given = process.env.GANTRY_TEST_AMQP_URL;
/** The one on the path asks for the user of the system's own server. */
const server = ['/usr/lib/rabbitmq/bin/rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server'].find(
  existsSync,
);
const epmd = binary('epmd');

export const rabbitSkip: string | false =
  given || (server && epmd)
    ? false
    : missing('RabbitMQ', 'set GANTRY_TEST_AMQP_URL, or install rabbitmq-server on this machine');

export async function openTestRabbit(): Promise<GuardedServer & { readonly url: string }> {
  if (given) return { url: given, stop: async () => {} };
  const folder = freshFolder().path;
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const names = { ERL_EPMD_PORT: String(epmdPort), ERL_EPMD_ADDRESS: '127.0.0.1' };
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const env = { ...names, ...settings(folder, port, distPort) };
  // Erlang's name server would outlive the one that started it, so it is started here
  const command = ['sh', '-c', `"$0" & exec "$1"`, epmd!, server!];
  return { url, ...(await startGuarded(command, { folder, env, isReady: () => answers(url) })) };
}

function settings(folder: string, port: number, distPort: number): NodeJS.ProcessEnv {
  const plugins = join(folder, 'plugins');
  mkdirSync(join(folder, 'log'));
  writeFileSync(plugins, '[].');
  return {
    HOME: folder,
    RABBITMQ_NODENAME: `gantry${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_CONFIG_FILE: join(folder, 'none'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-start_epmd false',
  };
}

const PATIENCE_MS = 60_000;
const AGAIN_MS = 100;

/** A server that starts can only be asked until it answers. */
async function answers(url: string): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; ; await later(AGAIN_MS)) {
    try {
      const connection = await connect(url);
      return await connection.close();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}
