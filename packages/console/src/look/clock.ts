/** One clock for all texts that age. It is the clock of the host: that of a browser may be wrong. */
import { useEffect, useReducer, useSyncExternalStore } from 'react';
import { look, watchLook } from './preferences.ts';

let skewMs = 0;

/** Told by the host with its answers. */
export function setHostTime(hostNow: number): void {
  skewMs = hostNow - Date.now();
}

export const hostNow = (): number => Date.now() + skewMs;

/** The time of the host, renewed when the text that is made of it changes. */
export function useNow(changesInMs: (now: number) => number): number {
  const [, renew] = useReducer((renewals: number) => renewals + 1, 0);
  const now = hostNow();
  useEffect(() => {
    const timer = setTimeout(renew, Math.min(changesInMs(hostNow()), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  });
  return now;
}

export const useLook = () => useSyncExternalStore(watchLook, look);
