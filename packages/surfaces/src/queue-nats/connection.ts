/** A connection to NATS that heals by itself, and operations that end. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { serverUnavailable } from '../queue/errors.ts';
import { pause } from '../queue/pause.ts';
import { explain, explainOpening } from './errors.ts';

export interface NatsSession {
  readonly nats: NatsConnection;
  readonly streams: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Aborted when the connection is lost: what was asked for by then is not answered any more. */
  readonly lost: AbortSignal;
}

export interface NatsLink {
  /** Runs while connected, after waiting a moment for a connection that is being made anew. */
  use<T>(work: (session: NatsSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export const REQUEST_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 100;
const PATIENCE_MS = 1_000;
const PING_MS = 10_000;

type Health =
  | { readonly kind: 'up'; readonly ending: AbortController }
  | { readonly kind: 'down'; readonly back: PromiseWithResolvers<void> };

interface Connected extends Omit<NatsSession, 'lost'> {
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
      const { health, ...connection } = await opened.get();
      const before = health();
      if (before.kind === 'down')
        await pause(PATIENCE_MS, new AbortController().signal, [before.back.promise]);
      const state = health();
      if (state.kind === 'down')
        throw serverUnavailable(`NATS at ${host}`, 'cannot be reached. Try again later.');
      const session = { ...connection, lost: state.ending.signal };
      return whileConnected(session, work(session)).catch((error: unknown) => {
        throw explain(error, host);
      });
    },
    close: opened.close,
  };
}

/** The library waits for answers that were lost with a connection until their time is over. */
export async function whileConnected<T>({ lost }: NatsSession, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new errors.ConnectionError('the connection was lost'));
  if (lost.aborted) end();
  lost.addEventListener('abort', end, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    lost.removeEventListener('abort', end);
  }
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
  let health: Health = { kind: 'up', ending: new AbortController() };
  const follow = async (): Promise<void> => {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect' && health.kind === 'up') {
        const { ending } = health;
        health = { kind: 'down', back: Promise.withResolvers<void>() };
        ending.abort();
      }
      if (type === 'reconnect' && health.kind === 'down') {
        const { back } = health;
        health = { kind: 'up', ending: new AbortController() };
        back.resolve();
      }
    }
  };
  void follow();
  return () => health;
}
