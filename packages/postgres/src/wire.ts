/**
 * The current socket of one connection to the server, including TLS negotiation.
 *
 * The driver supports TLS, but first removes all listeners from the socket: the session would not notice a lost
 * connection, and would wait forever for a restarted server.
 *
 * I1  The driver always gets a socket. If connecting failed, that socket ends with the reason once the driver
 *     listens: after a rejection, the driver would forget all statements queued for the connection but the first.
 * I2  Connecting takes at most `timeoutMs`. Nothing is sent, not even a name, to a server whose certificate fails
 *     the requested checks.
 */
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Place, TlsMode } from './url.ts';

/** The SSLRequest message: its length and its request code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S';
const NO = 'N';

export interface WireOptions {
  readonly place: Place;
  readonly timeoutMs: number;
}

export class Wire {
  readonly #options: WireOptions;
  #socket: Duplex | null = null;
  #tcp: Socket | null = null;
  #isCut = false;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** The socket below TLS: its reads are all incoming bytes. */
  get tcp(): Socket | null {
    return this.#tcp;
  }

  /** I1. */
  async connect(): Promise<Duplex> {
    if (this.#isCut) throw lostConnection();
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const made = (socket: Socket): void => {
      this.#socket = socket;
      socket.once('error', reject).once('close', () => reject(lostConnection()));
    };
    this.#begin({ made, ready: resolve });
    const timer = setTimeout(() => this.#socket?.destroy(timedOut()), this.#options.timeoutMs);
    try {
      const socket = await promise;
      return socket.destroyed ? this.#none(lostConnection()) : socket;
    } catch (error) {
      return this.#none(error instanceof Error ? error : lostConnection());
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes at once and permanently. */
  cut(reason?: Error): void {
    this.#isCut = true;
    this.#socket?.destroy(reason);
  }

  #none(reason: Error): Duplex {
    this.#tcp?.destroy();
    this.#socket = new NoSocket(reason);
    return this.#socket;
  }

  #begin({ made, ready }: { made(socket: Socket): void; ready(socket: Socket): void }): void {
    const { place } = this.#options;
    const tcp = place.kind === 'socket' ? connect(place.path) : connect(place.port, place.host);
    this.#tcp = tcp.setNoDelay(true);
    made(tcp);
    if (place.kind === 'socket' || place.tls === 'disable') return void tcp.once('connect', () => ready(tcp));
    const { host, tls } = place;
    tcp.once('connect', () => tcp.write(SSL_REQUEST));
    tcp.once('data', (answer) => {
      const said = answer.toString('latin1');
      // More than the one byte could be injected by an attacker, to be read as if sent under TLS
      if (said !== YES) return void tcp.destroy(said === NO ? withoutTls() : unexpected());
      const secure = connectTls({ socket: tcp, ...checksOf(host, tls) });
      made(secure);
      secure.once('secureConnect', () => ready(secure));
    });
  }
}

/** Without `host`, Node would check the certificate for `localhost`. A server name is never an address. */
function checksOf(host: string, tls: Exclude<TlsMode, 'disable'>): ConnectionOptions {
  const named = { host, ...(isIP(host) === 0 && { servername: host }) };
  switch (tls) {
    case 'require':
      return { ...named, rejectUnauthorized: false };
    case 'verify-ca':
      return { ...named, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case 'verify-full':
      return { ...named, rejectUnauthorized: true };
  }
}

/**
 * I1. Ends at the first write, not earlier: if a socket ends while the driver has buffered data to write, the
 * driver keeps it and never writes again. Emits `close` like a socket, by which the driver counts failures and
 * increases its delay.
 */
class NoSocket extends Duplex {
  readonly #reason: Error;

  constructor(reason: Error) {
    super({ emitClose: false });
    this.#reason = reason;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, callback: (error: Error) => void): void {
    callback(this.#reason);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    callback(error);
    process.nextTick(() => this.emit('close', error !== null));
  }
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

export const lostConnection = (): Error =>
  failure('CONNECTION_CLOSED', 'The connection to PostgreSQL was lost');
const timedOut = (): Error => failure('CONNECT_TIMEOUT', 'PostgreSQL did not answer in time');
export const statementTimedOut = (): Error =>
  failure(STATEMENT_TIMEOUT, 'PostgreSQL did not answer a statement in time');
const withoutTls = (): Error => failure(NO_TLS, 'PostgreSQL has no TLS');
const unexpected = (): Error => failure('EPROTO', 'This is no answer of PostgreSQL to the wish for TLS');

export const NO_TLS = 'NO_TLS';
export const STATEMENT_TIMEOUT = 'STATEMENT_TIMEOUT';
