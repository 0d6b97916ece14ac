/**
 * Opens a server or database on first use.
 *
 * I1  Callers that arrive while it is being opened share the attempt.
 * I2  A failed attempt is forgotten: the next call or health check tries again.
 * I3  After `close` nothing is opened. Callers that waited continue before `close` ends what was opened.
 *
 * @example
 * const link = openedWhenNeeded({ open: () => connect(url), close: (connection) => connection.end() });
 * const connection = await link.get();
 */
import { OpenwopError } from '@gantry/protocol';

export interface NeededOptions<T> {
  readonly open: () => Promise<T>;
  readonly close?: (opened: T) => Promise<void>;
}

export interface OpenedWhenNeeded<T> {
  get(): Promise<T>;
  /** Waits for an attempt in progress. */
  close(): Promise<void>;
}

type State<T> =
  | { readonly kind: 'idle' }
  | { readonly kind: 'open'; readonly opening: Promise<T> }
  | { readonly kind: 'closed' };

const STOPPING = 'The host is stopping. Nothing was changed. Try again later.';

export function openedWhenNeeded<T>({ open, close = async () => {} }: NeededOptions<T>): OpenedWhenNeeded<T> {
  let state: State<T> = { kind: 'idle' };
  const begin = (): Promise<T> => {
    const own: State<T> = { kind: 'open', opening: open() };
    state = own;
    own.opening.catch(() => {
      if (state === own) state = { kind: 'idle' };
    });
    return own.opening;
  };
  return {
    // Not async: otherwise `close` could run first (I3)
    get() {
      if (state.kind === 'closed')
        return Promise.reject(new OpenwopError('storage_unavailable', { message: STOPPING }));
      return state.kind === 'open' ? state.opening : begin();
    },
    async close() {
      const last = state;
      state = { kind: 'closed' };
      if (last.kind !== 'open') return;
      const [outcome] = await Promise.allSettled([last.opening]);
      if (outcome.status === 'fulfilled') await close(outcome.value);
    },
  };
}
