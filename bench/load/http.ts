/**
 * Just enough HTTP for a load generator: requests made once, answers cut out by their content-length.
 * A full client costs as much per request as the server it should measure.
 */
import net from 'node:net';

export interface Target {
  readonly port: number;
  readonly apiKey: string;
}

export interface RequestOptions {
  readonly body?: string;
  readonly headers?: readonly string[];
}

export function requestBytes(
  target: Target,
  method: string,
  path: string,
  { body, headers = [] }: RequestOptions = {},
): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${target.port}`,
    `Authorization: Bearer ${target.apiKey}`,
    ...headers,
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');

/** The first whole answer in `bytes`, or null if more must come. */
export function parseAnswer(bytes: Buffer): (Answer & { readonly end: number }) | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without content-length: ${head}`);
  const start = headEnd + HEAD_END.length;
  const end = start + Number(length);
  if (bytes.length < end) return null;
  return { status: Number(head.slice(9, 12)), body: bytes.subarray(start, end), end };
}

/** One keep-alive connection with at most one request under way. */
export class Connection {
  readonly #socket: net.Socket;
  readonly #opened: Promise<void>;
  #received: Buffer = NOTHING;
  #waiting:
    | { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }
    | undefined;

  constructor(port: number) {
    const opened = Promise.withResolvers<void>();
    this.#opened = opened.promise;
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, opened.resolve);
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#fail(error, opened.reject));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection'), opened.reject));
  }

  opened(): Promise<void> {
    return this.#opened;
  }

  send(request: Buffer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting = { resolve, reject };
    this.#socket.write(request);
    return promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = parseAnswer(this.#received);
    if (!answer) return;
    this.#received = this.#received.subarray(answer.end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #fail(error: Error, rejectOpened: (error: Error) => void): void {
    rejectOpened(error);
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
