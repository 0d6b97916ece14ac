/** A connection to RabbitMQ, made anew when it is next needed after it was lost, and operations that end. */
import { OpenwopError } from '@gantry/protocol';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { backendUnavailable } from '../queue/errors.ts';

export interface RabbitSession {
  readonly connection: ChannelModel;
  /** Of publishers. */
  readonly confirms: ConfirmChannel;
  /** Of consumers that do not wait. */
  readonly gets: Channel;
  /** What is known to be there, by name; forgotten with the session. */
  readonly known: Map<string, Promise<void>>;
  /** Aborted when its channels are gone. */
  readonly lost: AbortSignal;
}

export interface RabbitLink {
  use<T>(work: (session: RabbitSession) => Promise<T>, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

const OPERATION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const HEARTBEAT_S = 10;
const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'open'; readonly session: Promise<RabbitSession> }
  | { readonly kind: 'closed' };

/** `onLost`: the server has taken back what was delivered. */
export function rabbitLink(url: string, onLost: () => void): RabbitLink {
  const { host } = new URL(url);
  let state: State = { kind: 'idle' };
  const session = (): Promise<RabbitSession> => {
    if (state.kind === 'closed') throw backendUnavailable('The host is stopping.');
    if (state.kind === 'open') return state.session;
    const opening = openSession(url);
    const own: State = { kind: 'open', session: opening };
    const lose = (): void => {
      if (state !== own) return;
      state = { kind: 'idle' };
      onLost();
    };
    state = own;
    opening.then(({ connection }) => connection.on('close', lose), lose);
    return opening;
  };
  return {
    async use(work, timeoutMs = OPERATION_TIMEOUT_MS) {
      try {
        const opened = await session();
        return await inTime(work(opened), timeoutMs, () => drop(opened));
      } catch (error) {
        throw explain(error, host);
      }
    },
    async close() {
      const last = state;
      state = { kind: 'closed' };
      if (last.kind !== 'open') return;
      const opened = await last.session.catch(() => null);
      await opened?.connection.close().catch(() => {});
    },
  };
}

async function openSession(url: string): Promise<RabbitSession> {
  const address = new URL(url);
  address.searchParams.set('heartbeat', String(HEARTBEAT_S));
  const connection = await connect(address.href, { timeout: CONNECT_TIMEOUT_MS });
  // What ends a connection or a channel is told to those who wait for it
  connection.on('error', () => {});
  const [confirms, gets] = await Promise.all([connection.createConfirmChannel(), connection.createChannel()]);
  const ending = new AbortController();
  const drop = (): void => {
    ending.abort();
    connection.close().catch(() => {});
  };
  for (const channel of [confirms, gets]) channel.on('error', () => {}).on('close', drop);
  return { connection, confirms, gets, known: new Map(), lost: ending.signal };
}

/** A server that went silent would otherwise keep its callers for ever. */
async function inTime<T>(work: Promise<T>, timeoutMs: number, late: () => void): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late();
    reject(new Error('RabbitMQ did not answer'));
  }, timeoutMs);
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

const drop = ({ connection }: RabbitSession): void => void connection.close().catch(() => {});

/** `host` is host:port, never the password. */
function explain(error: unknown, host: string): unknown {
  if (error instanceof OpenwopError || error instanceof TypeError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === NOT_FOUND || code === ACCESS_REFUSED) {
    const refusal = new OpenwopError('queue_topic_not_found');
    refusal.cause = error;
    return refusal;
  }
  return backendUnavailable(`RabbitMQ at ${host} cannot be used for now. Try again later.`, error);
}

/** A refused declaration ends its channel, so each has one of its own. */
export async function onChannel<T>(
  { connection }: RabbitSession,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  const failed = new Promise<never>((_resolve, reject) => channel.once('error', reject));
  failed.catch(() => {});
  try {
    return await Promise.race([work(channel), failed]);
  } finally {
    await channel.close().catch(() => {});
  }
}

export async function exists(
  session: RabbitSession,
  check: (channel: Channel) => Promise<unknown>,
): Promise<boolean> {
  try {
    await onChannel(session, check);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return false;
    throw error;
  }
}
