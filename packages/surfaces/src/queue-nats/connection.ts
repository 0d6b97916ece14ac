/** A connection to NATS that heals by itself, and operations that end. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  connect,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  type TlsOptions,
} from '@nats-io/transport-node';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { serverUnavailable } from '../queue/errors.ts';
import { pause } from '../queue/pause.ts';
import { deniedIn, explain, explainOpening } from './errors.ts';

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

/** Connects when it is first used. Throws when the address is none of NATS. */
export function natsLink(url: string): NatsLink {
  const { host, searchParams } = new URL(url);
  for (const name of searchParams.keys())
    throw new Error(`A NATS address has no settings, as "${name}" would be one. nats+tls:// asks for TLS.`);
  const whyDown = sharedWhile(() => askWhyDown(url));
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
      if (state.kind === 'down') {
        await whyDown();
        throw serverUnavailable(`NATS at ${host}`, 'cannot be reached. Try again later.');
      }
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
  const { host } = new URL(url);
  const nats = await dial(url, { maxReconnectAttempts: -1, timeout: REQUEST_TIMEOUT_MS });
  try {
    const health = watch(nats);
    const manager = await jetstreamManager(nats, { timeout: REQUEST_TIMEOUT_MS });
    await assertRights(nats);
    return { nats, manager, health, streams: jetstream(nats, { timeout: REQUEST_TIMEOUT_MS }) };
  } catch (error) {
    await nats.close();
    throw explainOpening(error, host);
  }
}

/** The library keeps to itself why it cannot connect anew; one more attempt says it. */
async function askWhyDown(url: string): Promise<void> {
  const nats = await dial(url, { reconnect: false, timeout: PATIENCE_MS });
  await nats.close();
}

async function dial(url: string, options: NodeConnectionOptions): Promise<NatsConnection> {
  const { host, hostname, username, password, protocol } = new URL(url);
  try {
    return await connect({
      servers: host,
      name: 'gantry-queue',
      pingInterval: PING_MS,
      reconnectTimeWait: RECONNECT_MS,
      ignoreAuthErrorAbort: true,
      // Else the certificate of a server that is named by its IP address is checked for `localhost`
      ...(protocol === 'nats+tls:' && { tls: { host: hostname.replace(/^\[|\]$/g, '') } as TlsOptions }),
      ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
      ...options,
    });
  } catch (error) {
    throw explainOpening(error, host);
  }
}

/** Nothing is under these names, and whoever may ask is told so at once. (`$JS.ACK` never answers.) */
const ASKED = ['$JS.API.STREAM.CREATE.GANTRY_QUEUE_rights', 'gantry.queue.rights'];

async function assertRights(nats: NatsConnection): Promise<void> {
  const asking = ASKED.map((subject) => nats.request(subject, '', { timeout: PATIENCE_MS }));
  for (const asked of await Promise.allSettled(asking))
    if (asked.status === 'rejected' && deniedIn(asked.reason)) throw asked.reason;
}

/** Who asks while it is under way gets the same answer. */
function sharedWhile<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null;
  return () => {
    underWay ??= work().finally(() => {
      underWay = null;
    });
    return underWay;
  };
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
