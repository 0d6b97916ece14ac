/** Tells the operator of an outage once, not with every attempt to end it. */

import { isUnavailable, toReader } from './backend-errors.ts';
import type { Absence } from './backend-health.ts';

export interface OutageReport {
  /** At the start. */
  absent(absence: Absence): void;
  /** Of work that nobody waits for, such as subscriptions. */
  fault(fault: unknown): void;
}

const AGAIN_MS = 600_000;
const MESSAGES_MAX = 100;

export function createOutageReport(options: {
  readonly report: (fault: unknown) => void;
  readonly now: () => number;
}): OutageReport {
  const { report, now } = options;
  const toldAt = new Map<string, number>();
  const isNews = (message: string): boolean => {
    const before = toldAt.get(message);
    if (before !== undefined && now() - before < AGAIN_MS) return false;
    if (toldAt.size >= MESSAGES_MAX) toldAt.clear();
    toldAt.set(message, now());
    return true;
  };
  return {
    absent({ reason, names }) {
      toldAt.set(reason, now());
      report(
        `${names.join(', ')}: ${reason} The host serves everything else, and tries this by itself when it is ` +
          'next needed.',
      );
    },
    fault(fault) {
      if (!isUnavailable(fault) || isNews(toReader(fault).message)) report(fault);
    },
  };
}
