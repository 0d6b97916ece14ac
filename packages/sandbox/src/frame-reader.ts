/**
 * Reads the frames of one child.
 *
 * I1 Nothing is read while the tenant has used up its turn on the event loop, or while there is no memory for a
 *    large frame.
 * I2 Memory for a large frame is held until the host has processed it, the reader is stopped, or its bytes did
 *    not arrive within `FRAME_ARRIVAL_MS`.
 * I3 After `stop` no frame is delivered. Further output of the child is read and discarded, so that the child
 *    can exit.
 */
import type { Socket } from 'node:net';
import { createTurns, limiter, type Release } from '@gantry/limiter';
import { Decoder, type Frame } from './runner/wire.mjs';

const MIB = 1024 * 1024;
/** Limits the event loop time for frames and answers of pack processes. */
export const loopTurns = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
/** A frame of more than this size waits for memory before it is collected. */
export const LARGE_FRAME_BYTES = MIB;
/**
 * Memory for large frames, until the host has processed them.
 *
 * Without this limit, 32 processes could each have three frames of 49 MiB here: the last one beyond their
 * credit, a blocking call, and one being collected, 4.6 GiB in total. With it, the frames of hostile processes
 * take 256 MiB, and frames that are not large take 32 times 9 MiB of credit and collecting. A process that
 * stalls loses its share when its wall clock expires.
 */
export const frameMemory = limiter({ max: 256 * MIB, perTenantMax: 128 * MIB });
/** The bytes that are read at once: a few hundred frames at most. */
const SLICE_BYTES = 8 * 1024;
/** The event loop time that a frame takes after it was read, in promises and answers. */
const FRAME_MS = 0.01;
const FRAME_ARRIVAL_MS = 10_000;

export interface FrameEvents {
  /** Resolves when the message is no longer needed. */
  message(frame: Frame): Promise<void> | void;
  /** The stream is invalid from here on. */
  bad(reason: string): void;
}

type Pause = 'memory' | 'turn';

export class FrameReader {
  readonly #socket: Socket;
  readonly #tenant: string;
  readonly #events: FrameEvents;
  readonly #decoder = new Decoder();
  readonly #pauses = new Set<Pause>();
  readonly #stopped = new AbortController();
  /** Memory that is currently held. */
  readonly #held = new Set<Release>();
  /** Memory for the large frame that is being collected, once acquired. */
  #memory: Release | 'awaited' | undefined;
  #arrivalTimer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, tenant: string, events: FrameEvents) {
    this.#socket = socket;
    this.#tenant = tenant;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#arrivalTimer);
    for (const release of this.#held) release();
    this.#pauses.clear();
    this.#socket.resume();
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  #receive(chunk: Buffer): void {
    let at = 0;
    for (; at < chunk.byteLength && loopTurns.isFree(this.#tenant); at += SLICE_BYTES)
      this.#read(chunk.subarray(at, at + SLICE_BYTES));
    if (at >= chunk.byteLength || this.#isStopped) return;
    this.#pause('turn');
    loopTurns.wait(this.#tenant, () => {
      this.#resume('turn');
      this.#receive(chunk.subarray(at));
    });
  }

  #read(slice: Buffer): void {
    if (this.#isStopped) return;
    const startedAt = performance.now();
    let frames: readonly Frame[] = [];
    try {
      frames = this.#decoder.push(slice);
      for (const frame of frames) this.#hand(frame);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : 'not a frame');
    }
    const { size } = this.#decoder;
    if (size > LARGE_FRAME_BYTES && !this.#memory && !this.#isStopped) void this.#waitForMemory(size);
    loopTurns.spend(this.#tenant, performance.now() - startedAt + frames.length * FRAME_MS);
  }

  #hand(frame: Frame): void {
    if (this.#isStopped) return;
    const release = this.#memory;
    this.#memory = undefined;
    clearTimeout(this.#arrivalTimer);
    const handled = this.#events.message(frame);
    if (typeof release !== 'function') return;
    void Promise.resolve(handled).finally(() => {
      this.#held.delete(release);
      release();
    });
  }

  #fail(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#events.bad(reason);
  }

  /** A slice is smaller than a large frame, so there is at most one, and very little of it has been read. */
  async #waitForMemory(size: number): Promise<void> {
    this.#pause('memory');
    this.#memory = 'awaited';
    const { signal } = this.#stopped;
    const release = await frameMemory.acquire(this.#tenant, { weight: size, signal }).catch(() => undefined);
    if (!release || signal.aborted) return release?.();
    this.#memory = release;
    this.#held.add(release);
    const reason = `a frame did not arrive within ${FRAME_ARRIVAL_MS} ms of its announcement`;
    this.#arrivalTimer = setTimeout(() => this.#fail(reason), FRAME_ARRIVAL_MS);
    this.#resume('memory');
  }

  #pause(reason: Pause): void {
    this.#pauses.add(reason);
    this.#socket.pause();
  }

  #resume(reason: Pause): void {
    this.#pauses.delete(reason);
    if (this.#pauses.size === 0) this.#socket.resume();
  }
}
