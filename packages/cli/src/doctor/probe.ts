import { duration } from '../style.ts';
import { type Finding, ok, warn } from './finding.ts';

const PROBE_TIMEOUT_MS = 5_000;
const CLOCK_SKEW_MAX_MS = 30_000;

export type Probe =
  | {
      readonly kind: 'answer';
      readonly ok: boolean;
      readonly status: number;
      readonly date: string | null;
      /** Null if it is not JSON. */
      readonly body: unknown;
    }
  | { readonly kind: 'silence'; readonly reason: string };

/** One request without retries: doctor reports the current state, not the state after a minute. */
export async function probe(url: string, path: string): Promise<Probe> {
  try {
    const response = await fetch(url.replace(/\/+$/, '') + path, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const body: unknown = await response.json().catch(() => null);
    const { ok, status, headers } = response;
    return { kind: 'answer', ok, status, date: headers.get('date'), body };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return { kind: 'silence', reason: `${url} cannot be reached (${code ?? cause})` };
  }
}

/** `Date` has whole seconds, so small differences are ignored. */
export function checkClock(date: string | null, now: number): Finding {
  const skewMs = date === null ? Number.NaN : Math.abs(Date.parse(date) - now);
  if (Number.isNaN(skewMs)) {
    const next = 'A proxy may remove the Date header; compare the clocks by hand.';
    return warn('clock', 'the host does not report its time', next);
  }
  if (skewMs <= CLOCK_SKEW_MAX_MS) return ok('clock', 'agrees with the host');
  const next = 'Synchronise both clocks (NTP): timers and signatures depend on them.';
  return warn('clock', `${duration(skewMs)} apart from the host`, next);
}

const DATABASE_SKEW_MAX_MS = 1_000;

/** The clocks of the host and its database, from `/readyz`. Hosts of earlier versions do not report them. */
export function checkDatabaseClock(ready: unknown): Finding[] {
  const skewMs =
    typeof ready === 'object' && ready !== null && 'clockSkewMs' in ready ? ready.clockSkewMs : 0;
  if (typeof skewMs !== 'number' || Math.abs(skewMs) <= DATABASE_SKEW_MAX_MS) return [];
  const detail = `the host and its database are ${duration(Math.abs(skewMs))} apart`;
  const next = 'Check that both system clocks are correct (NTP). Leases and timers follow the database.';
  return [warn('clock', detail, next)];
}
