/** An HTTP/1.1 client over one open and checked connection. It never opens another. */
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import type { Connection } from './connect.ts';

export const RESPONSE_HEADER_BYTES_MAX = 32 * 1024;

/** How long an idle connection is kept for the next request. */
const IDLE_MS = 30_000;

/** The code of a failure before anything was sent because the connection had closed. */
export const GONE = 'EGRESS_CONNECTION_GONE';

export class Line {
  readonly address: string;
  readonly client: Undici.Client;
  readonly #socket: Socket;

  constructor(undici: typeof Undici, origin: string, { socket, address }: Connection) {
    this.address = address;
    this.#socket = socket;
    this.client = clientOver(undici, origin, socket);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener);
  }

  destroy(): void {
    this.#socket.destroy();
    void this.client.destroy();
  }
}

function clientOver({ Client }: typeof Undici, origin: string, socket: Socket): Undici.Client {
  let used = false;
  return new Client(origin, {
    connect: (_options, callback) => {
      const gone = used || socket.destroyed;
      used = true;
      // Not synchronous: undici ignores a connection that is made before this function returns. A plain Error:
      // after its own SocketError undici would retry forever.
      queueMicrotask(() =>
        gone
          ? callback(Object.assign(new Error('The connection is gone'), { code: GONE }), null)
          : callback(null, socket),
      );
    },
    allowH2: false,
    pipelining: 1,
    // If a server announces when it closes idle connections, undici closes a little earlier.
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    // The whole request has one deadline, passed as a signal.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
