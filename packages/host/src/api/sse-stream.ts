/**
 * One open stream.
 *
 * I1  Every event reaches the writer once, in order: `cursor` is the next sequence it has not seen.
 * I2  Live events are accepted only at the cursor; otherwise the stream reads from the store again.
 * I3  A slow reader uses little memory: past a bound nothing is written until it has drained. A page read
 *     from the log for one reader is held in one of a few slots; live events are bytes that all streams of a
 *     run share. If frames are larger than their events (snapshots), the bound is checked after every event.
 * I4  A reader that does not drain in time is disconnected: it reconnects with the id of the last frame that
 *     it has.
 */

import type { Limiter } from '@gantry/limiter';
import { isTerminalEvent, type StoredEvent } from '@gantry/protocol';
import type { RunKey, RunReads } from '@gantry/store';
import { KEEP_ALIVE } from './sse-frames.ts';
import type { FrameWriter, SharedBytes, Sink } from './sse-writer.ts';

const PAGE = 200;
const PAGE_BYTES_MAX = 262_144;
const UNSENT_BYTES_MAX = 1_048_576;
/** A page counts as sent when fewer bytes than this are unsent. */
const SENT_BYTES = 65_536;
/** Maximum time for a reader to drain. It is shorter while others wait for a slot. */
const DRAIN_MS_MAX = 30_000;
const DRAIN_CONTENDED_MS_MAX = 3_000;

/** `live` follows commits; the others read the log or wait for the reader. */
type Phase = 'catching-up' | 'live' | 'draining' | 'closed';

/** The part of a connection that a stream uses. */
export interface StreamSocket extends Sink {
  /** Bytes that the reader has not received yet. */
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
  /** Slots for pages of the log that are being sent to a reader. */
  readonly pages: Pick<Limiter, 'acquire' | 'stats'>;
  /** The first sequence to read. */
  readonly cursor: number;
  /** The number of events that are written before unsent bytes are checked. */
  readonly eventsPerWrite: number;
  readonly onClose: () => void;
  readonly onError: (error: unknown) => void;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  #phase: Phase = 'catching-up';
  #cursor: number;
  /** The highest committed sequence that this stream was notified of. */
  #announced = -1;
  /** The last sequence of the log, once it is known. */
  #endedAt: number | null = null;
  readonly #closed = new AbortController();
  /** Pending while the reader has not received the written bytes. */
  #drain: { readonly promise: Promise<void>; readonly settle: () => void } | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    options.socket.once('close', () => {
      this.#close();
      this.#drain?.settle();
    });
  }

  /** Accepts committed events. `shared` is for all streams of the run that receive exactly these events. */
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

  /** Reads the log from the cursor up to the newest announced event, then goes live. */
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
   * Sends buffered frames, then closes the connection in the next turn of the event loop, so that the last
   * event reaches a thousand readers before the first of their connections is closed.
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

  /** Returns whether the end of the log was reached. */
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

  /** Stops when unsent bytes reach their bound; the cursor is then at the first event not written. */
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
