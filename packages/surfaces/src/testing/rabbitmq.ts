/** RabbitMQ. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { openTest, type ServerKind, skipOf, type TestServer } from './server-kind.ts';
import { binary, freePort } from './servers.ts';

/** The one on the path asks for the user of the system's own server. */
const server = ['/usr/lib/rabbitmq/bin/rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server'].find(
  existsSync,
);
const epmd = binary('epmd');

export const RABBITMQ: ServerKind = {
  name: 'RabbitMQ',
  given: 'GANTRY_TEST_AMQP_URL',
  remedy: 'install rabbitmq-server on this machine',
  prepare:
    server && epmd
      ? async (folder) => {
          const port = await freePort();
          const url = `amqp://guest:guest@127.0.0.1:${port}`;
          return {
            url,
            // Erlang's name server would outlive the one that started it, so it is started here; a second one ends at once
            command: ['sh', '-c', `"$0" & exec "$1"`, epmd, server],
            pidFile: join(folder, 'pid'),
            env: settings(folder, { port, distPort: await freePort(), epmdPort: await freePort() }),
            ask: async () => (await connect(url)).close(),
          };
        }
      : null,
};

export const rabbitSkip: string | false = skipOf(RABBITMQ);
export const openTestRabbit = (): Promise<TestServer> => openTest(RABBITMQ);

interface Ports {
  readonly port: number;
  readonly distPort: number;
  readonly epmdPort: number;
}

function settings(folder: string, { port, distPort, epmdPort }: Ports): NodeJS.ProcessEnv {
  const plugins = join(folder, 'plugins');
  mkdirSync(join(folder, 'log'));
  writeFileSync(plugins, '[].');
  return {
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
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
