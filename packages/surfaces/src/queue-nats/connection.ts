/** A connection to NATS that heals by itself, and operations that end. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { backendUnavailable } from '../queue/errors.ts';
import { pause } from '../queue/pause.ts';
import { explain } from './errors.ts';

export interface NatsLink {
  readonly nats: NatsConnection;
  readonly streams: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Runs when connected, waiting a moment for a connection that is being made anew. */
  use<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export const REQUEST_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 250;
const PATIENCE_MS = 1_000;
const PING_MS = 20_000;

type Health = { readonly kind: 'up' } | { readonly kind: 'down'; readonly back: PromiseWithResolvers<void> };

export async function openNats(url: string): Promise<NatsLink> {
  const { host, username, password, protocol } = new URL(url);
  const nats = await connect({
    ...{ servers: host, name: 'gantry-queue', timeout: REQUEST_TIMEOUT_MS, pingInterval: PING_MS },
    ...{ maxReconnectAttempts: -1, reconnectTimeWait: RECONNECT_MS, ignoreAuthErrorAbort: true },
    ...(protocol === 'nats+tls:' && { tls: {} }),
    ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
  }).catch((error: unknown) => {
    throw unreachable(host, error);
  });
  const health = watch(nats);
  const manager = await jetstreamManager(nats, { timeout: REQUEST_TIMEOUT_MS }).catch(
    async (error: unknown) => {
      await nats.close();
      throw unreachable(host, error);
    },
  );
  return {
    ...{ nats, manager, streams: jetstream(nats, { timeout: REQUEST_TIMEOUT_MS }) },
    async use(work) {
      const state = health();
      if (state.kind === 'down') {
        await pause(PATIENCE_MS, new AbortController().signal, [state.back.promise]);
        if (health().kind === 'down') throw unreachable(host);
      }
      return work().catch((error: unknown) => {
        throw explain(error, host);
      });
    },
    close: () => nats.close(),
  };
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

/** `host` is host:port, never the password. */
const unreachable = (host: string, cause?: unknown) =>
  backendUnavailable(`NATS at ${host} cannot be reached. Try again later.`, cause);
