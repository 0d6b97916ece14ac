import { EgressError, egressProblem } from './error.ts';

/** One signal for a whole request: it fires at the deadline or when the caller gives up, and its reason says which. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Call when the request is over; afterwards nothing fires. */
  clear(): void;
}

/** The largest delay a timer takes; beyond it Node would fire at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export function interruption(timeoutMs: number, caller: AbortSignal | undefined): Interruption {
  if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX))
    throw new RangeError(`timeoutMs is ${timeoutMs}, not between 1 and ${TIMEOUT_MS_MAX}`);
  const controller = new AbortController();
  const giveUp = () =>
    controller.abort(new EgressError(egressProblem('aborted', 'The request was aborted.')));
  const expire = () => {
    const happened = `There was no complete answer within ${timeoutMs} ms.`;
    controller.abort(new EgressError(egressProblem('timeout', happened)));
  };
  const timer = setTimeout(expire, timeoutMs);
  if (caller?.aborted) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

/** For work that cannot be cancelled itself, such as `getaddrinfo`: its late answer is dropped. */
export function unlessInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
