/**
 * Reads the frames of one child.
 *
 * I1 Nothing is read while the tenant has had its turn on the event loop, or while there is no memory for a large frame.
 * I2 Memory for a large frame is held until the host has dealt with it, the reader is stopped, or its bytes did not
 *    arrive within `FRAME_ARRIVAL_MS`.
 * I3 After `stop` nothing is handed over, and what the child still writes is read and dropped, so that it can end.
 */
import type { Socket } from 'node:net';
import { createTurns, limiter, type Release } from '@gantry/limiter';
import { Decoder, type Frame } from './runner/wire.mjs';

const MIB = 1024 * 1024;
/** How long frames and answers of pack processes may hold the event loop. */
export const loopTurns = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
/** From here on a frame waits for memory before it is collected. */
export const LARGE_FRAME_BYTES = MIB;
/**
 * For large frames, until the host has dealt with them.
 *
 * Without it 32 processes could each have three frames of 49 MiB here: the last beyond their credit, a blocking call
 * and one being collected, 4.6 GiB in all. With it the frames of hostile processes take 256 MiB, and what is not
 * large 32 times 9 MiB of credit and collecting. A process that does not go on loses its part with its wall clock.
 */
export const frameMemory = limiter({ max: 256 * MIB, perTenantMax: 128 * MIB });
/** Read in one go: a few hundred frames at most. */
const SLICE_BYTES = 8 * 1024;
/** What a frame costs the loop after it was read, in promises and answers. */
const FRAME_MS = 0.01;
const FRAME_ARRIVAL_MS = 10_000;

export interface FrameEvents {
  /** Resolves when nothing of the message is needed any more. */
  message(frame: Frame): Promise<void> | void;
  /** Nothing that follows can be read. */
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
  /** Memory that is held. */
  readonly #held = new Set<Release>();
  /** For the large frame that is being collected, once there is some. */
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

  /** A slice is smaller than a large frame: there is at most one, and hardly anything of it is here. */
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
