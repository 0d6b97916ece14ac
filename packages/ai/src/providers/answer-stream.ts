/**
 * The stream of an answer, read as fast as its tenant may use the event loop.
 *
 * I1  A slice of the stream is read in a turn of the tenant. While it waits, nothing is read from the connection.
 * I2  The stream ends with the answer, even if the server does not end it.
 */
import { createTurns } from '@gantry/limiter';
import type { AnswerEvents } from './answer-events.ts';

/** The event loop time for answers of models. */
const turns = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
/** One turn reads so much: less than a hundred events. */
const SLICE_BYTES = 8 * 1024;
/** What the library and the log of the run need for it afterwards, in promises. */
const EVENT_MS = 0.02;
const BYTE_MS = 0.02 / 1024;
const LINE_FEED = Buffer.from('\n');
/** How long what may follow the content is waited for, such as the usage. */
const AFTER_MS = 5_000;
/** What a server sends after the answer is read for so long, so that its connection can be kept. */
const REST_MS = 1_000;

interface Terms {
  readonly events: AnswerEvents;
  readonly tenant: string;
  readonly silenceMs: number;
  onBreak(error: unknown): void;
}

export function answerStream(body: ReadableStream<Uint8Array>, terms: Terms): ReadableStream<Uint8Array> {
  const answer = new AnswerStream(body.getReader(), terms);
  return new ReadableStream({
    async pull(controller) {
      try {
        const passed = await answer.next();
        if (passed) controller.enqueue(passed);
        else controller.close();
      } catch (error) {
        terms.onBreak(error);
        void answer.cancel(error).catch(() => {});
        throw error;
      }
    },
    cancel: (reason) => answer.cancel(reason),
  });
}

class AnswerStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #terms: Terms;
  readonly #decoder = new TextDecoder();
  /** Read from the connection, and not yet in a turn. */
  #bytes: Uint8Array = new Uint8Array();
  #isDone = false;
  #afterTimer: NodeJS.Timeout | undefined;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, terms: Terms) {
    this.#reader = reader;
    this.#terms = terms;
  }

  /** The next events; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const { events, tenant } = this.#terms;
    for (;;) {
      if (events.isOver) {
        clearTimeout(this.#afterTimer);
        void this.#readRest();
        return undefined;
      }
      if (this.#bytes.byteLength === 0) {
        const { done, value } = await this.#reader.read();
        if (done && this.#isDone) return undefined;
        this.#isDone = done;
        // Some servers end with one line feed too few
        this.#bytes = value ?? LINE_FEED;
      }
      const passed = await turns.take(tenant, () => this.#slice());
      if (passed !== '') return Buffer.from(passed);
    }
  }

  async cancel(reason: unknown): Promise<void> {
    clearTimeout(this.#afterTimer);
    await this.#reader.cancel(reason);
  }

  #slice(): string {
    const { events, tenant, silenceMs } = this.#terms;
    const slice = this.#bytes.subarray(0, SLICE_BYTES);
    this.#bytes = this.#bytes.subarray(SLICE_BYTES);
    const passed = events.push(this.#decoder.decode(slice, { stream: true }));
    turns.spend(tenant, passed.length * EVENT_MS + slice.byteLength * BYTE_MS);
    if (events.hasContent)
      this.#afterTimer ??= setTimeout(
        () => void this.#reader.cancel().catch(() => {}),
        Math.min(AFTER_MS, silenceMs / 2),
      );
    return passed.join('');
  }

  /** Whatever happens to the connection now, the answer is complete. */
  async #readRest(): Promise<void> {
    const timer = setTimeout(() => void this.#reader.cancel().catch(() => {}), REST_MS);
    const { done } = await this.#reader.read().catch(() => ({ done: true }));
    clearTimeout(timer);
    if (!done) await this.#reader.cancel().catch(() => {});
  }
}
