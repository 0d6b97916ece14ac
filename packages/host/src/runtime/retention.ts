/** Deletes expired data: ended runs, idempotency records, settled invocations, and data of surfaces. */
import type { RetentionSweep } from '@gantry/store';
import type { Logger } from 'pino';
import { type Clock, pause, systemClock } from './clock.ts';

const SWEEP_EVERY_MS = 3_600_000;
/** Early enough for a host that restarts often, but after it has taken up its runs. */
const FIRST_SWEEP_MS = 60_000;
const BATCH = 100;
/** A sweep leaves at least half of the time to the commits of live runs, and is never slowed down further than this. */
const PAUSE_MS_MAX = 20;
/** Longer than the longest run: a node that continues must find its records. */
export const INVOCATION_RETENTION_MS = 31 * 86_400_000;

export function startRetention(options: {
  sweep: RetentionSweep;
  /** Services that keep data beside runs. */
  others: readonly { sweep(): Promise<number> }[];
  retentionMs: number;
  now: () => number;
  clock?: Clock;
  log: Logger;
}): { run(): Promise<number>; stop(): void } {
  const { sweep, others, retentionMs, now, clock = systemClock, log } = options;

  const ending = new AbortController();

  async function inBatches(deleteBatch: () => Promise<number>): Promise<number> {
    for (let deleted = 0; ; ) {
      if (ending.signal.aborted) return deleted;
      const startedAt = clock.elapsedMs();
      const count = await deleteBatch();
      if (count === 0) return deleted;
      deleted += count;
      await pause(clock, Math.min(clock.elapsedMs() - startedAt, PAUSE_MS_MAX), ending.signal);
    }
  }

  async function run(): Promise<number> {
    const deleted = await inBatches(() => sweep.deleteEnded(now() - retentionMs, BATCH));
    await inBatches(() => sweep.deleteExpired(now(), now() - INVOCATION_RETENTION_MS, BATCH));
    for (const other of others) if (!ending.signal.aborted) await other.sweep();
    if (deleted > 0) log.info({ runs: deleted }, 'deleted runs past their retention');
    return deleted;
  }

  const sweepAfter = (ms: number): (() => void) => clock.after(ms, sweepNow, 'background');
  const sweepNow = (): void => {
    cancel = sweepAfter(SWEEP_EVERY_MS);
    run().catch((error) => log.error({ err: error }, 'the retention sweep failed; it will run again'));
  };
  let cancel = sweepAfter(FIRST_SWEEP_MS);
  return {
    run,
    stop() {
      ending.abort();
      cancel();
    },
  };
}
