/**
 * Turns of tenants on one thread: short pieces of synchronous work, of which any number may be wanted at once.
 *
 * I1 In one round of the event loop work is begun for at most `roundMs`; what is left waits for the next round, so that
 *    connections, timers and answers of threads get their share between two rounds.
 * I2 Tenants take turns: however much work of one tenant waits, a piece of another waits for one of it.
 * I3 While nobody waits and the round is young, work is done at once, without a promise.
 */
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

const ROUND_MS = 4;

const systemClock: TurnsClock = {
  nowMs: () => performance.now(),
  nextRound: (run) => void setImmediate(run),
};

export function createTurns({ roundMs = ROUND_MS, clock = systemClock }: TurnsOptions = {}): Turns {
  /** What waits, by tenant, in the order of their turns. A tenant for which nothing waits has no line. */
  const lines = new Map<string, (() => void)[]>();
  let roundStartedAt: number | null = null;
  let isWorking = false;
  /** The time of this round is used up. */
  let isOver = false;

  function startRound(): number {
    clock.nextRound(endRound);
    return clock.nowMs();
  }

  function endRound(): void {
    roundStartedAt = null;
    isOver = false;
    while (lines.size > 0 && !isOver) run(takeNext());
  }

  function run<T>(work: () => T): T {
    roundStartedAt ??= startRound();
    isWorking = true;
    try {
      return work();
    } finally {
      isWorking = false;
      isOver = clock.nowMs() - roundStartedAt >= roundMs;
    }
  }

  /** I2. */
  function takeNext(): () => void {
    const [tenant, line] = lines.entries().next().value!;
    const work = line.shift()!;
    lines.delete(tenant);
    if (line.length > 0) lines.set(tenant, line);
    return work;
  }

  function wait<T>(tenant: string, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const line = lines.get(tenant) ?? [];
      lines.set(tenant, line);
      line.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  return {
    take(tenant, work) {
      // A turn within a turn is the same turn.
      if (isWorking) return work();
      return lines.size === 0 && !isOver ? run(work) : wait(tenant, work);
    },
  };
}
