/** A process in the pool, and what it is used for just now. */

/** What the pool asks of a process. */
export interface Pooled {
  /** Gone or about to go: not for new work. */
  readonly isDead: boolean;
  /** Resolves when it can be used, or never will be. */
  readonly opened: Promise<unknown>;
  /** Resolves when it is gone. */
  readonly ended: Promise<void>;
  kill(): void;
  /** Gives back memory that it does not need, then is stopped until it is woken. */
  sleep(): void;
  wake(): void;
}

const INVOCATIONS_PER_PROCESS_MAX = 64;

/**
 * `shared`: with others that share, in a warm process. `exclusive`: nobody else meanwhile, in a warm process.
 * `alone`: in a process of its own, gone after use.
 */
export type Use = 'shared' | 'exclusive' | 'alone';

export type State =
  | { readonly kind: 'idle'; readonly since: number; readonly isAsleep: boolean }
  | { readonly kind: 'shared'; readonly by: number }
  | { readonly kind: 'exclusive' };

export interface Entry<P extends Pooled = Pooled> {
  readonly process: P;
  /** `undefined` when it is gone after its first use. */
  readonly key: string | undefined;
  readonly tenant: string;
  state: State;
}

export const idleSince = (since: number): State => ({ kind: 'idle', since, isAsleep: false });

export const isIdle = ({ state, process }: Entry): boolean => state.kind === 'idle' && !process.isDead;

/** In use, and open for one more. */
export const isOpen = ({ state, process }: Entry): boolean =>
  state.kind === 'shared' && state.by < INVOCATIONS_PER_PROCESS_MAX && !process.isDead;

export function take<P extends Pooled>(entry: Entry<P>, use: Use): Entry<P> {
  const { state, process } = entry;
  if (state.kind === 'idle' && state.isAsleep) process.wake();
  if (use === 'shared') entry.state = { kind: 'shared', by: state.kind === 'shared' ? state.by + 1 : 1 };
  else entry.state = { kind: 'exclusive' };
  return entry;
}

export function release(entry: Entry, now: number): void {
  const { state } = entry;
  const isShared = state.kind === 'shared' && state.by > 1;
  entry.state = isShared ? { kind: 'shared', by: state.by - 1 } : idleSince(now);
  if (entry.key === undefined) entry.process.kill();
}

/** The one that was used longest ago. */
export function longestIdle(entries: Iterable<Entry>): Pooled | undefined {
  let oldest: { readonly process: Pooled; readonly since: number } | undefined;
  for (const { state, process } of entries)
    if (state.kind === 'idle' && !process.isDead && (!oldest || state.since < oldest.since))
      oldest = { process, since: state.since };
  return oldest?.process;
}
