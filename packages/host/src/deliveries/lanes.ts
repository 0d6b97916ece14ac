/**
 * Fair scheduling of deliveries. Each receiver, such as a webhook subscription, is a lane; a turn is the work on one
 * delivery.
 *
 * I1  A lane has one turn at a time, so its deliveries leave in order.
 * I2  A lane goes to the end of its tenant's line after its turn, and tenants take turns: a slow or long one holds up
 *     no other.
 * I3  A wake during a turn is not lost: the lane gets another turn.
 */
import { setImmediate } from 'node:timers/promises';
import { type Limiter, limiter, type Release } from '@gantry/limiter';
import type { Parts } from '../parts.ts';
import { WakeClock } from '../runtime/wake-clock.ts';

/** A turn lasts as long as its receiver: slow ones of one tenant leave the rest to the others. */
const TURNS_AT_ONCE = { max: 64, perTenantMax: 16 };
const RETRY_AFTER_ERROR_MS = 5_000;

/** Whose deliveries a lane sends: `ref` is what they belong to. */
export interface LaneKey {
  readonly tenant: string;
  readonly ref: string;
}

/** What a lane wants next. */
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
  /** For the log: `webhook`. */
  readonly noun: string;
  readonly turn: (key: LaneKey) => Promise<Next>;
  /** Turns of all lanes, and of those of one tenant. */
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

  /** There may be something to do. */
  wake(key: LaneKey): void {
    const lane = this.#lanes.get(laneName(key));
    if (lane?.now.state === 'ready') return;
    if (lane?.now.state === 'running') lane.now = { state: 'running', woken: true };
    else this.#enqueue(lane ?? { key, now: { state: 'ready' } });
  }

  /** Resolves when no lane is at work or waits for its turn. */
  async quiet(): Promise<void> {
    const isBusy = ({ now }: Lane): boolean => now.state !== 'sleeping';
    while (!this.#stopped && [...this.#lanes.values()].some(isBusy))
      await (this.#turns.size > 0 ? Promise.race(this.#turns) : setImmediate());
  }

  /** Takes no more turns and waits for those under way. */
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
    // Refused only by the stop
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

  /** Answers when the next lane wakes. */
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

/** Some refs are chosen by callers: two tenants may choose the same. */
export const laneName = ({ tenant, ref }: LaneKey): string => `${tenant}\0${ref}`;
