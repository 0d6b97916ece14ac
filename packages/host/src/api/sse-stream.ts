/**
 * One open stream.
 *
 * I1  Every event reaches the writer once, in order: `cursor` is the next sequence it has not seen.
 * I2  Live events are only taken at the cursor; anything else sends the stream back to the store.
 * I3  A reader that is slow costs little memory: past a bound nothing is written until it has drained. What is read
 *     from the log for one reader alone is held in a slot, and there are few of those; live events are bytes that all
 *     streams of a run share. Where frames are larger than their events (snapshots), that bound is looked at after
 *     every event.
 * I4  A reader that does not drain in time is cut off: it comes back with the id of the last frame that it has.
 */

import type { Limiter } from '@gantry/limiter';
import { isTerminalEvent, type StoredEvent } from '@gantry/protocol';
import type { RunKey, RunReads } from '@gantry/store';
import { KEEP_ALIVE } from './sse-frames.ts';
import type { FrameWriter, SharedBytes, Sink } from './sse-writer.ts';

const PAGE = 200;
const PAGE_BYTES_MAX = 262_144;
const UNSENT_BYTES_MAX = 1_048_576;
/** Below this, a page counts as sent. */
const SENT_BYTES = 65_536;
/** How long a reader may take to drain; the shorter time while others wait for a slot. */
const DRAIN_MS_MAX = 30_000;
const DRAIN_CONTENDED_MS_MAX = 3_000;

/** `live` follows commits; the others read the log or wait for the reader. */
type Phase = 'catching-up' | 'live' | 'draining' | 'closed';

/** What a stream needs of its connection. */
export interface StreamSocket extends Sink {
  /** Bytes the reader has not taken yet. */
  readonly writableLength: number;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  destroy(): unknown;
}

export interface EventStreamOptions {
  readonly key: RunKey;
  readonly runs: Pick<RunReads, 'events'>;
  readonly response: { end(): unknown };
  readonly socket: StreamSocket;
  readonly writer: FrameWriter;
  /** Slots for pages of the log that are on their way to a reader. */
  readonly pages: Pick<Limiter, 'acquire' | 'stats'>;
  /** The first sequence to read. */
  readonly cursor: number;
  /** Events that are written before unsent bytes are looked at. */
  readonly eventsPerWrite: number;
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
  readonly #closed = new AbortController();
  /** Waits for the reader to take what was written. */
  #drain: { readonly promise: Promise<void>; readonly settle: () => void } | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    options.socket.once('close', () => {
      this.#close();
      this.#drain?.settle();
    });
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
      if (this.#phase === 'closed') return;
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
    if (this.#options.socket.writableLength > SENT_BYTES) void this.#drained();
  }

  async #readLog(): Promise<void> {
    while (this.#phase === 'catching-up') {
      const release = await this.#options.pages.acquire(this.#options.key.tenant, {
        signal: this.#closed.signal,
      });
      const isEnd = await this.#sendPage().finally(release);
      if (isEnd && this.#announced < this.#cursor) break;
    }
    if (this.#phase !== 'catching-up') return;
    this.#phase = 'live';
    if (this.#endedAt !== null) this.end();
  }

  /** Answers whether the log had no more. */
  async #sendPage(): Promise<boolean> {
    const { runs, key, socket } = this.#options;
    const page = await runs.events(key.tenant, key.runId, this.#cursor, PAGE, PAGE_BYTES_MAX);
    if (this.#phase !== 'catching-up') return false;
    if (page.length > 0) this.#write(page, null);
    if (socket.writableLength > SENT_BYTES) await this.#drained();
    return page.length === 0;
  }

  #take(events: readonly StoredEvent[], shared: SharedBytes): void {
    this.#write(events, shared);
    const isBehind = this.#cursor <= events.at(-1)!.sequence;
    if (this.#phase === 'live' && (isBehind || this.#isFull())) this.#wait(); // I3
  }

  #isFull(): boolean {
    return this.#options.socket.writableLength > UNSENT_BYTES_MAX;
  }

  /** Stops where unsent bytes reach their bound: the cursor says how far it came. */
  #write(events: readonly StoredEvent[], shared: SharedBytes | null): void {
    const { eventsPerWrite, writer } = this.#options;
    const fresh = events.filter((event) => event.sequence >= this.#cursor);
    for (let at = 0; at < fresh.length; at += eventsPerWrite) {
      if (at > 0 && this.#isFull()) return;
      const part = fresh.slice(at, at + eventsPerWrite);
      this.#cursor = part.at(-1)!.sequence + 1;
      writer.write(part, part.length === events.length ? shared : null);
    }
    if (isTerminalEvent(events.at(-1)!.type)) this.end();
  }

  #wait(): void {
    this.#phase = 'draining';
    void this.#drained().then(() => {
      if (this.#phase === 'draining') this.catchUp();
    });
  }

  /** I4. */
  #drained(): Promise<void> {
    if (this.#drain) return this.#drain.promise;
    const { socket, pages } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cutOff = (): unknown => socket.destroy();
    let timer = setTimeout(() => {
      if (pages.stats().waiting > 0) cutOff();
      else timer = setTimeout(cutOff, DRAIN_MS_MAX - DRAIN_CONTENDED_MS_MAX);
    }, DRAIN_CONTENDED_MS_MAX);
    const settle = (): void => {
      clearTimeout(timer);
      this.#drain = undefined;
      resolve();
    };
    this.#drain = { promise, settle };
    socket.once('drain', settle);
    return promise;
  }

  #close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#closed.abort();
    this.#options.writer.flush();
    this.#options.onClose();
  }
}
