/**
 * Fair scheduling of deliveries. Each receiver, such as a webhook subscription, is a lane; a turn is the work
 * on one delivery.
 *
 * I1  A lane has one turn at a time, so its deliveries are sent in order.
 * I2  After its turn a lane moves to the end of its tenant's queue, and tenants alternate: a slow or long
 *     lane does not delay the others.
 * I3  A wake during a turn is not lost: the lane gets another turn.
 */
import { setImmediate } from 'node:timers/promises';
import { type Limiter, limiter, type Release } from '@gantry/limiter';
import type { Parts } from '../parts.ts';
import { WakeClock } from '../runtime/wake-clock.ts';

/** The duration of a turn depends on its receiver. `perTenantMax` keeps slots free for other tenants. */
const TURNS_AT_ONCE = { max: 64, perTenantMax: 16 };
const RETRY_AFTER_ERROR_MS = 5_000;

/** Identifies the deliveries of a lane: `ref` is the record that they belong to. */
export interface LaneKey {
  readonly tenant: string;
  readonly ref: string;
}

/** The next step of a lane. */
export type Next =
  | { readonly next: 'again' }
  | { readonly next: 'idle' }
  | { readonly next: 'sleep'; readonly until: number };

/** An idle lane has no state. */
type LaneState =
  | { readonly state: 'ready' }
  | { readonly state: 'running'; readonly woken: boolean }
  | { readonly state: 'sleeping'; readonly until: number };

interface Lane {
  readonly key: LaneKey;
  now: LaneState;
}

export interface LanesOptions extends Pick<Parts, 'clock' | 'now' | 'log'> {
  /** For log messages: `webhook`. */
  readonly noun: string;
  readonly turn: (key: LaneKey) => Promise<Next>;
  /** The maximum number of concurrent turns of all lanes, and of those of one tenant. */
  readonly atOnce?: { readonly max: number; readonly perTenantMax: number };
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #slots: Limiter;
  readonly #turns = new Set<Promise<void>>();
  readonly #clock: WakeClock;
  #stopped = false;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#slots = limiter(options.atOnce ?? TURNS_AT_ONCE);
    this.#clock = new WakeClock(options.now, async () => this.#wakeSleepers(), options.clock);
  }

  /** The lane may have work. */
  wake(key: LaneKey): void {
    const lane = this.#lanes.get(laneName(key));
    if (lane?.now.state === 'ready') return;
    if (lane?.now.state === 'running') lane.now = { state: 'running', woken: true };
    else this.#enqueue(lane ?? { key, now: { state: 'ready' } });
  }

  /** Resolves when no lane is working or queued. */
  async quiet(): Promise<void> {
    const isBusy = ({ now }: Lane): boolean => now.state !== 'sleeping';
    while (!this.#stopped && [...this.#lanes.values()].some(isBusy))
      await (this.#turns.size > 0 ? Promise.race(this.#turns) : setImmediate());
  }

  /** Starts no more turns and waits for running ones. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clock.stop();
    this.#slots.close();
    await Promise.all(this.#turns);
  }

  #enqueue(lane: Lane): void {
    lane.now = { state: 'ready' };
    this.#lanes.set(laneName(lane.key), lane);
    if (this.#stopped) return;
    const { tenant } = lane.key;
    const slot = this.#slots.tryAcquire(tenant);
    if (slot) this.#begin(lane, slot);
    // Rejected only after a stop
    else
      this.#slots.acquire(tenant).then(
        (granted) => this.#begin(lane, granted),
        () => {},
      );
  }

  #begin(lane: Lane, release: Release): void {
    if (this.#stopped) {
      release();
      return;
    }
    const turn = this.#run(lane).finally(() => {
      this.#turns.delete(turn);
      release();
    });
    this.#turns.add(turn);
  }

  async #run(lane: Lane): Promise<void> {
    lane.now = { state: 'running', woken: false };
    const next = await this.#turn(lane.key);
    if (next.next === 'again' || lane.now.woken) {
      this.#enqueue(lane);
    } else if (next.next === 'sleep') {
      lane.now = { state: 'sleeping', until: next.until };
      this.#clock.note(next.until);
    } else {
      this.#lanes.delete(laneName(lane.key));
    }
  }

  async #turn(key: LaneKey): Promise<Next> {
    const { noun, turn, now, log } = this.#options;
    try {
      return await turn(key);
    } catch (error) {
      log.warn({ err: error, [`${noun}Id`]: key.ref }, `${noun} deliveries are held up; trying again`);
      return { next: 'sleep', until: now() + RETRY_AFTER_ERROR_MS };
    }
  }

  /** Returns the time at which the next lane wakes. */
  #wakeSleepers(): number | null {
    const at = this.#options.now();
    let next: number | null = null;
    for (const lane of [...this.#lanes.values()]) {
      if (lane.now.state !== 'sleeping') continue;
      if (lane.now.until <= at) this.#enqueue(lane);
      else next = Math.min(next ?? lane.now.until, lane.now.until);
    }
    return next;
  }
}

/** Includes the tenant: callers choose some refs, and two tenants may choose the same. */
export const laneName = ({ tenant, ref }: LaneKey): string => `${tenant}\0${ref}`;
