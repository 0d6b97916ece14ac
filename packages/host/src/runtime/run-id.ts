import { newRunId, timeOfId } from '@gantry/protocol';

/** The latest time used in an id, by clock. */
const latest = new WeakMap<() => number, number>();

/** Lists are sorted by id, and ids by time: the newest run has the highest id even after the clock went back. */
export function nextRunId(now: () => number, randomBytes: (count: number) => Uint8Array): string {
  const before = latest.get(now) ?? 0;
  const current = now();
  const at = current >= before ? current : before + 1;
  latest.set(now, at);
  return newRunId(at, randomBytes);
}

/** The clock may have gone back since another process made `highest`. */
export function continueRunIds(now: () => number, highest: string | null): void {
  latest.set(now, Math.max(latest.get(now) ?? 0, (highest && timeOfId(highest)) || 0));
}
