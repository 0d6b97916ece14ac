import type { Store, StoreChange } from '../port.ts';
import { CHANNEL, decodeNotice, LOOK_AT_EVERYTHING } from './notices.ts';
import type { Sql } from './sql.ts';

type Listener = (change: StoreChange) => void;

/**
 * One connection listens for all watchers, from the first one until the store closes. The driver connects again
 * and listens again by itself, also when the first attempt failed; but what its `unlisten` ends is only the
 * listening of before, so watchers come and go here and the driver is asked once.
 */
export function watch(sql: Sql, processId: string): Store['watch'] {
  const listeners = new Set<Listener>();
  const tell = (change: StoreChange): void => {
    for (const listener of listeners) listener(change);
  };
  let listening: Promise<unknown> | null = null;
  let listenedBefore = false;
  const onNotice = (payload: string): void => {
    const change = decodeNotice(payload, processId);
    if (change) tell(change);
  };
  const onListening = (): void => {
    listening = Promise.resolve();
    if (listenedBefore) tell(LOOK_AT_EVERYTHING);
    listenedBefore = true;
  };
  return async (listener) => {
    const own: Listener = (change) => listener(change);
    listeners.add(own);
    try {
      listening ??= sql.listen(CHANNEL, onNotice, onListening);
      await listening;
    } catch (error) {
      listeners.delete(own);
      throw error;
    }
    return async () => void listeners.delete(own);
  };
}
