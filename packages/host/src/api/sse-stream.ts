/**
 * One open stream.
 *
 * I1  Every event reaches the writer once, in order: `cursor` is the next sequence it has not seen.
 * I2  Live events are only taken at the cursor; anything else sends the stream back to the store.
 * I3  A reader that is slow costs no memory here: past a bound nothing is written until it has drained.
 */

import { isTerminalEvent, type StoredEvent } from '@gantry/protocol';
import type { RunKey, RunReads } from '@gantry/store';
import { KEEP_ALIVE } from './sse-frames.ts';
import type { FrameWriter, SharedBytes, Sink } from './sse-writer.ts';

const PAGE = 200;
const UNSENT_BYTES_MAX = 1_048_576;

/** `live` follows commits; the others read the log or wait for the reader. */
type Phase = 'catching-up' | 'live' | 'draining' | 'closed';

/** What a stream needs of its connection. */
export interface StreamSocket extends Sink {
  /** Bytes the reader has not taken yet. */
  readonly writableLength: number;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

export interface EventStreamOptions {
  readonly key: RunKey;
  readonly runs: Pick<RunReads, 'events'>;
  readonly response: { end(): unknown };
  readonly socket: StreamSocket;
  readonly writer: FrameWriter;
  /** The first sequence to read. */
  readonly cursor: number;
  readonly onClose: () => void;
  readonly onError: (error: unknown) => void;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  #phase: Phase = 'catching-up';
  #cursor: number;
  /** The highest sequence heard of, taken or not. */
  #announced = -1;
  /** Where the log ends, once that is known. */
  #endedAt: number | null = null;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    options.socket.once('close', () => this.#close());
  }

  /** What was just committed. `shared` is for all streams of the run that take exactly this. */
  receive(events: readonly StoredEvent[], shared: SharedBytes): void {
    const last = events.at(-1);
    if (last === undefined) return;
    if (last.sequence > this.#announced) this.#announced = last.sequence;
    if (isTerminalEvent(last.type)) this.#endedAt = last.sequence;
    if (this.#phase !== 'live') return;
    if (events[0]!.sequence > this.#cursor)
      this.catchUp(); // I2
    else this.#take(events, shared);
  }

  /** Reads the log from the cursor until nothing newer was heard of, then goes live. */
  catchUp(): void {
    this.#phase = 'catching-up';
    this.#readLog().catch((error) => {
      this.#options.onError(error);
      this.end();
    });
  }

  keepAlive(): void {
    if (this.#phase === 'live' || this.#phase === 'catching-up') this.#options.socket.write(KEEP_ALIVE);
  }

  /**
   * Sends what is gathered and closes the connection behind it: in the next turn, so that the last event
   * reaches a thousand readers before the first of their connections is taken down.
   */
  end(): void {
    if (this.#phase === 'closed') return;
    this.#close();
    setImmediate(() => this.#options.response.end());
  }

  async #readLog(): Promise<void> {
    const { runs, key } = this.#options;
    for (;;) {
      const page = await runs.events(key.tenant, key.runId, this.#cursor, PAGE);
      if (this.#phase !== 'catching-up') return;
      if (page.length > 0) this.#take(page, null);
      if (this.#phase !== 'catching-up') return;
      if (page.length < PAGE && this.#announced < this.#cursor) break;
    }
    this.#phase = 'live';
    if (this.#endedAt !== null) this.end();
  }

  #take(events: readonly StoredEvent[], shared: SharedBytes | null): void {
    const { writer, socket } = this.#options;
    const isExact = events[0]!.sequence === this.#cursor;
    const fresh = isExact ? events : events.filter((event) => event.sequence >= this.#cursor);
    const last = events.at(-1)!;
    if (fresh.length > 0) {
      this.#cursor = last.sequence + 1;
      writer.write(fresh, isExact ? shared : null);
    }
    if (isTerminalEvent(last.type)) this.end();
    else if (socket.writableLength > UNSENT_BYTES_MAX) this.#drain(); // I3
  }

  #drain(): void {
    this.#phase = 'draining';
    this.#options.socket.once('drain', () => {
      if (this.#phase === 'draining') this.catchUp();
    });
  }

  #close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#options.writer.flush();
    this.#options.onClose();
  }
}
