/** A connection to NATS that heals by itself, and operations that end. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { serverUnavailable } from '../queue/errors.ts';
import { pause } from '../queue/pause.ts';
import { explain, explainOpening } from './errors.ts';

export interface NatsSession {
  readonly nats: NatsConnection;
  readonly streams: JetStreamClient;
  readonly manager: JetStreamManager;
}

export interface NatsLink {
  /** Runs when connected, waiting a moment for a connection that is being made anew. */
  use<T>(work: (session: NatsSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export const REQUEST_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 250;
const PATIENCE_MS = 1_000;
const PING_MS = 20_000;

type Health = { readonly kind: 'up' } | { readonly kind: 'down'; readonly back: PromiseWithResolvers<void> };

interface Connected extends NatsSession {
  health(): Health;
}

/** Connects when it is first used. */
export function natsLink(url: string): NatsLink {
  const { host } = new URL(url);
  const opened = openedWhenNeeded({
    open: () => open(url),
    close: ({ nats }) => nats.close(),
    code: 'queue_backend_unavailable',
  });
  return {
    async use(work) {
      const { health, ...session } = await opened.get();
      const state = health();
      if (state.kind === 'down') {
        await pause(PATIENCE_MS, new AbortController().signal, [state.back.promise]);
        if (health().kind === 'down')
          throw serverUnavailable(`NATS at ${host}`, 'cannot be reached. Try again later.');
      }
      return work(session).catch((error: unknown) => {
        throw explain(error, host);
      });
    },
    close: opened.close,
  };
}

async function open(url: string): Promise<Connected> {
  const { host, username, password, protocol } = new URL(url);
  const nats = await connect({
    servers: host,
    name: 'gantry-queue',
    timeout: REQUEST_TIMEOUT_MS,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    ignoreAuthErrorAbort: true,
    ...(protocol === 'nats+tls:' && { tls: {} }),
    ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
  }).catch((error: unknown) => {
    throw explainOpening(error, host);
  });
  try {
    const health = watch(nats);
    const manager = await jetstreamManager(nats, { timeout: REQUEST_TIMEOUT_MS });
    return { nats, manager, health, streams: jetstream(nats, { timeout: REQUEST_TIMEOUT_MS }) };
  } catch (error) {
    await nats.close();
    throw explainOpening(error, host);
  }
}

/** `nats://token@host` or `nats://user:password@host` */
const credentials = (user: string, pass: string) =>
  user === '' ? {} : pass === '' ? { token: user } : { user, pass };

function watch(nats: NatsConnection): () => Health {
  let health: Health = { kind: 'up' };
  const follow = async (): Promise<void> => {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect' && health.kind === 'up')
        health = { kind: 'down', back: Promise.withResolvers<void>() };
      if (type === 'reconnect' && health.kind === 'down') {
        health.back.resolve();
        health = { kind: 'up' };
      }
    }
  };
  void follow();
  return () => health;
}
