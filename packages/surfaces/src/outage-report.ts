/** Tells the operator of an outage once, not with every attempt to end it. */

import { Seldom } from '@gantry/protocol';
import { isUnavailable, toReader } from './backend-errors.ts';
import type { Absence } from './backend-health.ts';

export interface OutageReport {
  /** At the start. */
  absent(absence: Absence): void;
  /** Of work that nobody waits for, such as subscriptions. */
  fault(fault: unknown): void;
}

const AGAIN_MS = 600_000;

export function createOutageReport(options: {
  readonly report: (fault: unknown) => void;
  readonly now: () => number;
}): OutageReport {
  const { report, now } = options;
  const messages = new Seldom({ now, everyMs: AGAIN_MS });
  return {
    absent({ reason, names }) {
      messages.ask(reason);
      report(
        `${names.join(', ')}: ${reason} The host serves everything else, and tries this by itself when it is ` +
          'next needed.',
      );
    },
    fault(fault) {
      if (!isUnavailable(fault) || messages.ask(toReader(fault).message) !== null) report(fault);
    },
  };
}
