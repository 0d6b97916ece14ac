/**
 * Reads the frames of one child.
 *
 * I1 Nothing is read while the tenant has had its share of the loop (`loop-share.ts`), or while there is no room for
 *    a large frame.
 * I2 Room for a large frame is held until the host has dealt with it, the reader is stopped, or its bytes did not
 *    arrive within `FRAME_ARRIVAL_MS`.
 * I3 After `stop` nothing is handed over, and what the child still writes is read and dropped, so that it can end.
 */
import type { Socket } from 'node:net';
import { loopShares } from './loop-share.ts';
import { frameRoom, LARGE_FRAME_BYTES, type Place, type Share } from './room.ts';
import { Decoder, type Frame } from './runner/wire.mjs';

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

type Pause = 'room' | 'turn';

export class FrameReader {
  readonly #socket: Socket;
  readonly #tenant: string;
  readonly #events: FrameEvents;
  readonly #decoder = new Decoder();
  /** Of the room for large frames. */
  readonly #frames: Share;
  readonly #pauses = new Set<Pause>();
  /** For the large frame that is being collected, once there is room. */
  #place: Place | 'awaited' | undefined;
  #arrivalTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(socket: Socket, tenant: string, events: FrameEvents) {
    this.#socket = socket;
    this.#tenant = tenant;
    this.#events = events;
    this.#frames = frameRoom.open(tenant);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#arrivalTimer);
    this.#frames.close();
    this.#pauses.clear();
    this.#socket.resume();
  }

  #receive(chunk: Buffer): void {
    let at = 0;
    for (; at < chunk.byteLength && loopShares.isFree(this.#tenant); at += SLICE_BYTES)
      this.#read(chunk.subarray(at, at + SLICE_BYTES));
    if (at >= chunk.byteLength || this.#isStopped) return;
    this.#pause('turn');
    loopShares.wait(this.#tenant, () => {
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
    if (size > LARGE_FRAME_BYTES && !this.#place && !this.#isStopped) this.#waitForRoom(size);
    loopShares.spend(this.#tenant, performance.now() - startedAt + frames.length * FRAME_MS);
  }

  #hand(frame: Frame): void {
    if (this.#isStopped) return;
    const place = this.#place;
    this.#place = undefined;
    clearTimeout(this.#arrivalTimer);
    const handled = this.#events.message(frame);
    if (place === undefined || place === 'awaited') return;
    if (handled) void handled.finally(() => place.leave());
    else place.leave();
  }

  #fail(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#events.bad(reason);
  }

  /** A slice is smaller than a large frame: there is at most one, and hardly anything of it is here. */
  #waitForRoom(size: number): void {
    this.#pause('room');
    this.#place = 'awaited';
    this.#frames.take(size, (place) => {
      this.#place = place;
      const reason = `a frame did not arrive within ${FRAME_ARRIVAL_MS} ms of its announcement`;
      this.#arrivalTimer = setTimeout(() => this.#fail(reason), FRAME_ARRIVAL_MS);
      this.#resume('room');
    });
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
