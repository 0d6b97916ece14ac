/** A connection to RabbitMQ, made anew when it is next needed after it was lost, and operations that end. */
import { OpenwopError } from '@gantry/protocol';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { codeOf, refused, unreachable } from '../backend-errors.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { serverUnavailable } from '../queue/errors.ts';
import { Line } from './line.ts';

export interface RabbitSession {
  readonly connection: ChannelModel;
  /** Of publishers. */
  readonly confirms: ConfirmChannel;
  /** Of consumers that do not wait. */
  readonly gets: Channel;
  /** Of all that wait: a server has few channels for a connection. */
  readonly waits: Channel;
  /** For those who need a channel of their own for a moment. */
  readonly line: Line;
  /** What is known to be there, by name; forgotten with the session. */
  readonly known: Map<string, Promise<void>>;
  /** Aborted when its channels are gone. */
  readonly lost: AbortSignal;
}

export interface RabbitLink {
  use<T>(work: (session: RabbitSession) => Promise<T>, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

export const OPERATION_TIMEOUT_MS = 10_000;
/** Of each that waits, not of their channel together. */
export const WAITING_PREFETCH = 1;
/** Of those that are opened for a moment. Servers have 2,047 for a connection by default. */
const CHANNELS_MAX = 64;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const HEARTBEAT_S = 10;
const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;

/** `onLost`: the server has taken back what was delivered. */
export function rabbitLink(url: string, onLost: () => void): RabbitLink {
  const { host } = new URL(url);
  const sessions = openedWhenNeeded({
    async open() {
      const session = await openSession(url).catch((error: unknown) => {
        throw explainOpening(error, host);
      });
      session.connection.on('close', () => {
        sessions.forget();
        onLost();
      });
      return session;
    },
    // The driver waits for ever for the answer of a server that goes away just then
    close: ({ connection }) => inTime(connection.close(), CLOSE_TIMEOUT_MS, () => {}).catch(() => {}),
    code: 'queue_backend_unavailable',
  });
  return {
    async use(work, timeoutMs = OPERATION_TIMEOUT_MS) {
      const session = await sessions.get();
      try {
        return await inTime(work(session), timeoutMs, () => drop(session));
      } catch (error) {
        throw explain(error, host);
      }
    },
    close: sessions.close,
  };
}

async function openSession(url: string): Promise<RabbitSession> {
  const address = new URL(url);
  address.searchParams.set('heartbeat', String(HEARTBEAT_S));
  const connection = await connect(address.href, { timeout: CONNECT_TIMEOUT_MS });
  // What ends a connection or a channel is told to those who wait for it
  connection.on('error', () => {});
  const [confirms, gets, waits] = await Promise.all([
    connection.createConfirmChannel(),
    connection.createChannel(),
    connection.createChannel(),
  ]);
  const ending = new AbortController();
  const drop = (): void => {
    ending.abort();
    connection.close().catch(() => {});
  };
  for (const channel of [confirms, gets, waits]) channel.on('error', () => {}).on('close', drop);
  await waits.prefetch(WAITING_PREFETCH);
  return {
    connection,
    confirms,
    gets,
    waits,
    line: new Line(CHANNELS_MAX),
    known: new Map(),
    lost: ending.signal,
  };
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

/** The driver tells these apart by text alone. */
const WRONG_PASSWORD = /^Handshake terminated by server: 403\b/;
/** There is none of that name, or it is not up yet. */
const NO_VIRTUAL_HOST = /^Expected ConnectionOpenOk; got <ConnectionClose/;

/** What connecting failed with: nobody's call had begun. `host` is host:port, never the password. */
function explainOpening(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  const server = `RabbitMQ at ${host}`;
  if (WRONG_PASSWORD.test(error.message)) {
    const why = 'refuses the user or the password. Correct them in the setting.';
    return refused('queue_backend_unavailable', server, why);
  }
  const reason = NO_VIRTUAL_HOST.test(error.message) ? 'it does not open the virtual host' : codeOf(error);
  return unreachable('queue_backend_unavailable', server, reason ?? 'it ended the connection');
}

/** For about a second after it started, the server knows of queues that it cannot reach yet. */
const NOT_YET = / is (?:down|stopped|inaccessible)/;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === NOT_FOUND && !NOT_YET.test(error.message);

function explain(error: unknown, host: string): unknown {
  if (error instanceof OpenwopError || error instanceof TypeError) return error;
  const isDenied = error instanceof Error && 'code' in error && error.code === ACCESS_REFUSED;
  if (isDenied || isMissing(error)) return new OpenwopError('queue_topic_not_found', { cause: error });
  return serverUnavailable(`RabbitMQ at ${host}`, 'cannot be used for now. Try again later.', error);
}

/** A refused declaration ends its channel, so each has one of its own. */
export async function onChannel<T>(
  { connection, line }: RabbitSession,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  return line.inTurn(async () => {
    const channel = await connection.createChannel();
    const failed = new Promise<never>((_resolve, reject) => channel.once('error', reject));
    failed.catch(() => {});
    try {
      return await Promise.race([work(channel), failed]);
    } finally {
      await channel.close().catch(() => {});
    }
  });
}

export async function exists(
  session: RabbitSession,
  check: (channel: Channel) => Promise<unknown>,
): Promise<boolean> {
  try {
    await onChannel(session, check);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
