/** Receives one response from undici: its head, then its body, which is collected or streamed. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { BoundedBytes } from './bounded-bytes.ts';
import { EgressError, egressError } from './error.ts';
import type { Silence } from './interruption.ts';

type Controller = Dispatcher.DispatchController;
type Reader = ReadableStreamDefaultController<Uint8Array>;

/** Headers are parsed on first use: that costs a tenth of a small request. */
export class Head {
  readonly status: number;
  readonly #raw: IncomingHttpHeaders;
  #headers: Headers | undefined;

  constructor(status: number, raw: IncomingHttpHeaders) {
    this.status = status;
    this.#raw = raw;
  }

  get headers(): Headers {
    this.#headers ??= responseHeaders(this.#raw);
    return this.#headers;
  }
}

export interface ReceptionOptions {
  readonly bytesMax: number;
  readonly silence: Silence;
  /** The error that the caller sees. */
  failure(error: unknown): unknown;
  /** Called once, however the response ends. */
  ended(isWhole: boolean): void;
}

export const SWITCHED = 'The server switched to another protocol.';

export class Reception implements Dispatcher.DispatchHandler {
  readonly head = Promise.withResolvers<Head>();
  readonly #whole = Promise.withResolvers<void>();
  readonly #options: ReceptionOptions;
  readonly #collected: BoundedBytes;
  #bytesLeft: number;
  /** How the body ended. */
  #end: ((reader: Reader) => void) | undefined;
  #controller: Controller | undefined;
  #reader: Reader | undefined;

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#bytesLeft = options.bytesMax;
    this.#collected = new BoundedBytes(options.bytesMax);
    // A reader gets the error; a response may also be dropped unread.
    this.#whole.promise.catch(() => {});
  }

  async read(): Promise<Uint8Array> {
    await this.#whole.promise;
    return this.#collected.bytes();
  }

  /** From now on chunks are passed on, and requested only as they are read. */
  stream(cancel: () => void, ended: () => void): ReadableStream<Uint8Array> {
    this.#whole.promise.then(ended, ended);
    return new ReadableStream<Uint8Array>({
      start: (reader) => {
        this.#reader = reader;
        const first = this.#collected.bytes();
        if (first.byteLength > 0) this.#hand(reader, first);
        this.#end?.(reader);
      },
      pull: () => this.#resume(),
      cancel,
    });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status === 101) controller.abort(egressError('upgrade_not_allowed', SWITCHED));
    if (status < 200) return;
    this.#options.silence.begin();
    this.head.resolve(new Head(status, headers));
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    // undici passes an empty chunk when it is resumed between two packets. To pause for it would repeat that at once,
    // for ever: the next packet is read only after the promises of this round.
    if (chunk.byteLength === 0) return;
    this.#bytesLeft -= chunk.byteLength;
    if (this.#bytesLeft < 0) {
      const happened = `The answer has more than ${this.#options.bytesMax} bytes.`;
      controller.abort(egressError('response_too_large', happened));
      return;
    }
    this.#options.silence.begin();
    if (this.#reader) this.#hand(this.#reader, chunk);
    else this.#collected.add(chunk);
  }

  onResponseEnd(): void {
    this.#options.silence.end();
    this.#options.ended(true);
    this.#whole.resolve();
    this.#finish((reader) => reader.close());
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#options.silence.end();
    this.#options.ended(false);
    const reason = this.#options.failure(error);
    this.head.reject(reason);
    const seen = reason instanceof EgressError ? reason.afterSending() : reason;
    this.#whole.reject(seen);
    this.#finish((reader) => reader.error(seen));
  }

  #finish(end: (reader: Reader) => void): void {
    this.#end = end;
    if (this.#reader) end(this.#reader);
  }

  #hand(reader: Reader, chunk: Uint8Array): void {
    reader.enqueue(chunk);
    if ((reader.desiredSize ?? 0) > 0) return;
    // Time in which the consumer does not read does not count as silence of the server.
    this.#options.silence.end();
    this.#controller?.pause();
  }

  #resume(): void {
    if (!this.#controller?.paused) return;
    this.#options.silence.begin();
    this.#controller.resume();
  }
}

function responseHeaders(raw: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}
