/**
 * Waiting for a message.
 *
 * I1  Consumers of one group in one process wait in a queue; only the first checks, so a message wakes one of them.
 * I2  A consumer that finds nothing continues to wait until its timeout, and its checks are not recorded.
 */
import type { Bell, Turn } from './arrivals.ts';

export interface Waiting<T> {
  readonly now: () => number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  turn(): Turn;
  bell(): Bell;
  /** When an attempt is useful; null if only an arrival can change anything. */
  readyAt(now: number): Promise<number | null>;
  /** Null if there was no message. */
  attempt(now: number): Promise<T | null>;
  /** Called after an attempt that found nothing: moves obstructing messages aside. */
  makeWay(now: number): Promise<void>;
}

type Look<T> =
  | { readonly kind: 'taken'; readonly taken: T }
  | { readonly kind: 'missed' }
  | { readonly kind: 'nothing'; readonly readyAt: number | null };

/** Null after a timeout or an abort. */
export async function takeInTurn<T>(waiting: Waiting<T>): Promise<T | null> {
  const { now, signal } = waiting;
  const until = now() + waiting.waitMs;
  // The first check needs no turn: such leases share transactions
  const first = await look(waiting);
  if (first.kind === 'taken') return first.taken;
  const turn = waiting.turn();
  try {
    await pause(until - now(), signal, [turn.come]);
    return await lookUntil(until, waiting);
  } finally {
    turn.leave();
  }
}

async function lookUntil<T>(until: number, waiting: Waiting<T>): Promise<T | null> {
  const { now, signal } = waiting;
  while (now() < until && !signal.aborted) {
    const bell = waiting.bell();
    try {
      const found = await look(waiting);
      if (found.kind === 'taken') return found.taken;
      if (found.kind === 'missed') await waiting.makeWay(now());
      else await pause(Math.min(until, found.readyAt ?? until) - now(), signal, [bell.rung]);
    } finally {
      bell.stop();
    }
  }
  return null;
}

async function look<T>({ now, signal, readyAt: when, attempt }: Waiting<T>): Promise<Look<T>> {
  const readyAt = await when(now());
  const at = now();
  if (readyAt === null || readyAt > at || signal.aborted) return { kind: 'nothing', readyAt };
  const taken = await attempt(at);
  return taken === null ? { kind: 'missed' } : { kind: 'taken', taken };
}

/** Resolves after a time, or at once when the signal aborts. */
export async function pause(
  ms: number,
  signal: AbortSignal,
  earlier: readonly Promise<void>[] = [],
): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
  const wake = (): void => resolve();
  signal.addEventListener('abort', wake, { once: true });
  try {
    await Promise.race([promise, ...earlier]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  }
}

/** Node treats longer timeouts as none. */
const TIMER_MS_MAX = 2_147_483_647;
