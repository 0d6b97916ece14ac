/** Deletes expired data: ended runs, idempotency records, settled invocations, and data of surfaces. */
import type { RetentionSweep } from '@gantry/store';
import type { Logger } from 'pino';
import { type Clock, systemClock } from './clock.ts';

const SWEEP_EVERY_MS = 3_600_000;
/** Early enough for a host that restarts often, but after it has taken up its runs. */
const FIRST_SWEEP_MS = 60_000;
/** Small batches, so that a sweep delays the commits of live runs only briefly. */
const BATCH = 200;
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

  async function run(): Promise<number> {
    let deleted = 0;
    for (;;) {
      const count = await sweep.deleteEnded(now() - retentionMs, BATCH);
      deleted += count;
      if (count < BATCH) break;
    }
    while ((await sweep.deleteExpired(now(), now() - INVOCATION_RETENTION_MS, BATCH)) > 0);
    for (const other of others) await other.sweep();
    if (deleted > 0) log.info({ runs: deleted }, 'deleted runs past their retention');
    return deleted;
  }

  const sweepAfter = (ms: number): (() => void) => clock.after(ms, sweepNow, 'background');
  const sweepNow = (): void => {
    cancel = sweepAfter(SWEEP_EVERY_MS);
    run().catch((error) => log.error({ err: error }, 'the retention sweep failed; it will run again'));
  };
  let cancel = sweepAfter(FIRST_SWEEP_MS);
  return { run, stop: () => cancel() };
}
