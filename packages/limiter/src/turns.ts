/**
 * Turns of tenants on one thread: short pieces of synchronous work, of which any number may be wanted at once.
 *
 * I1 In one round of the event loop work is begun for at most `roundMs`; what is left waits for the next round, so that
 *    connections, timers and answers of threads get their share between two rounds.
 * I2 Tenants take turns (`limiter.ts`): however much work of one tenant waits, a piece of another waits for one of it.
 * I3 While nobody waits and the round is young, work is done at once, without a promise.
 */
import { limiter, type Release } from './limiter.ts';

export interface TurnsOptions {
  readonly roundMs?: number;
  readonly clock?: TurnsClock;
}

export interface TurnsClock {
  nowMs(): number;
  /** Calls `run` in the next round of the event loop. */
  nextRound(run: () => void): void;
}

export interface Turns {
  /** Does `work`, which is synchronous, now or when the tenant's turn comes. Its errors come out as usual. */
  take<T>(tenant: string, work: () => T): T | Promise<T>;
}

const ROUND_MS = 2;

const systemClock: TurnsClock = {
  nowMs: () => performance.now(),
  nextRound: (run) => void setImmediate(run),
};

export function createTurns({ roundMs = ROUND_MS, clock = systemClock }: TurnsOptions = {}): Turns {
  const slot = limiter({ max: 1 });
  let roundStartedAt: number | null = null;
  let isWorking = false;
  /** The time of this round is used up. */
  let isOver = false;
  let waiting = 0;

  function begin<T>(tenant: string, work: () => T, granted?: Release): T {
    if (roundStartedAt === null) {
      roundStartedAt = clock.nowMs();
      clock.nextRound(() => {
        roundStartedAt = null;
      });
    }
    const startedAt = roundStartedAt;
    isWorking = true;
    try {
      return work();
    } finally {
      isWorking = false;
      if (clock.nowMs() - startedAt < roundMs) granted?.();
      else endRound(granted ?? slot.tryAcquire(tenant));
    }
  }

  /** I1. The slot is held until the next round, so that whoever comes waits in line. */
  function endRound(held: Release | undefined): void {
    isOver = true;
    clock.nextRound(() => {
      isOver = false;
      held?.();
    });
  }

  async function wait<T>(tenant: string, work: () => T): Promise<T> {
    waiting++;
    const granted = await slot.acquire(tenant);
    waiting--;
    return begin(tenant, work, granted);
  }

  return {
    take(tenant, work) {
      // A turn within a turn is the same turn.
      if (isWorking) return work();
      return waiting === 0 && !isOver ? begin(tenant, work) : wait(tenant, work);
    },
  };
}
