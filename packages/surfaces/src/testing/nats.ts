/** A NATS server with JetStream: the one at `GANTRY_TEST_NATS_URL`, else a private one from this machine. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { freshFolder } from './data-dir.ts';
import { binary, freePort, type GuardedServer, missing, startGuarded } from './servers.ts';

const given = process.env.GANTRY_TEST_NATS_URL;
const server = binary('nats-server');

export const natsSkip: string | false =
  given || server
    ? false
    : missing('NATS', 'set GANTRY_TEST_NATS_URL, or install nats-server on this machine');

export async function openTestNats(): Promise<GuardedServer & { readonly url: string }> {
  if (given) return { url: given, stop: async () => {} };
  const folder = freshFolder().path;
  const port = await freePort();
  const command = [server!, '-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)];
  const started = await startGuarded(command, { folder, isReady: () => answers(port) });
  return { url: `nats://127.0.0.1:${port}`, ...started };
}

const PATIENCE_MS = 10_000;
const AGAIN_MS = 25;

/** A server that starts can only be asked until it answers. */
async function answers(port: number): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; ; await later(AGAIN_MS)) {
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      await once(socket, 'data');
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
    } finally {
      socket.destroy();
    }
  }
}
