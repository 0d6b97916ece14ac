/** The circuit breaker of a subscription. Pure. */
import type { CircuitState } from '@gantry/protocol';

const FAILURES_TO_OPEN = 4;
const OPEN_MS = 3_600_000;
const FAILURES_TO_GIVE_UP = 100;
const WINDOW_MS = 7 * 86_400_000;

export interface Health {
  readonly consecutiveFailures: number;
  /** Set by the failure that opened the circuit; after this time one delivery probes. */
  readonly openUntil: number | null;
  /** Times of failures, oldest first; never more than it takes to give up. */
  readonly failures: readonly number[];
}

export const HEALTHY: Health = { consecutiveFailures: 0, openUntil: null, failures: [] };

export function circuitOf({ openUntil }: Health, now: number): CircuitState {
  if (openUntil === null) return 'closed';
  return now < openUntil ? 'open' : 'half-open';
}

export const recentFailures = ({ failures }: Health, now: number): number[] =>
  failures.filter((at) => at > now - WINDOW_MS);

/** A success closes the circuit. The failures of the last days still count. */
export const afterSuccess = (health: Health): Health => ({
  ...health,
  consecutiveFailures: 0,
  openUntil: null,
});

/** A failed probe opens the circuit again: its count is past the limit already. */
export function afterFailure(health: Health, now: number): Health {
  const consecutiveFailures = health.consecutiveFailures + 1;
  return {
    consecutiveFailures,
    openUntil: consecutiveFailures >= FAILURES_TO_OPEN ? now + OPEN_MS : null,
    failures: [...recentFailures(health, now), now].slice(-FAILURES_TO_GIVE_UP),
  };
}

export const isGivenUp = (health: Health, now: number): boolean =>
  recentFailures(health, now).length >= FAILURES_TO_GIVE_UP;

/** While one process probes, the circuit stays open for the others. */
export const whileProbing = (health: Health, until: number): Health => ({ ...health, openUntil: until });

/** A success would change nothing. */
export const isClean = ({ consecutiveFailures, openUntil }: Health): boolean =>
  consecutiveFailures === 0 && openUntil === null;
