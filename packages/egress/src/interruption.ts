import { egressError } from './error.ts';

export interface Patience {
  /** For the whole request. */
  readonly timeoutMs: number;
  /** Between two chunks of a body. */
  readonly idleTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The time limit for the next chunk of a server. When it passes, the request is interrupted. */
export interface Silence {
  /** Starts the time. */
  begin(): void;
  end(): void;
}

/** One signal for a whole request. It fires at the deadline or when the caller aborts; its reason says which. */
export interface Interruption {
  readonly signal: AbortSignal;
  readonly silence: Silence;
  /** Call when the request has ended; afterwards nothing fires. */
  clear(): void;
}

/** The largest delay of a timer; above it Node would fire at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

function assertDelay(name: string, ms: number): void {
  if (!(ms > 0 && ms <= TIMEOUT_MS_MAX))
    throw new RangeError(`${name} is ${ms}, not between 1 and ${TIMEOUT_MS_MAX}`);
}

export function interruption({ timeoutMs, idleTimeoutMs, signal: caller }: Patience): Interruption {
  assertDelay('timeoutMs', timeoutMs);
  if (idleTimeoutMs !== undefined) assertDelay('idleTimeoutMs', idleTimeoutMs);
  const controller = new AbortController();
  const giveUp = () => controller.abort(egressError('aborted', 'The request was aborted.'));
  const expire = (happened: string) => controller.abort(egressError('timeout', happened));
  const timer = setTimeout(expire, timeoutMs, `There was no complete answer within ${timeoutMs} ms.`);
  let idle: NodeJS.Timeout | undefined;
  if (caller?.aborted) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    silence: {
      begin: () => {
        clearTimeout(idle);
        if (idleTimeoutMs !== undefined)
          idle = setTimeout(expire, idleTimeoutMs, `The server sent nothing for ${idleTimeoutMs} ms.`);
      },
      end: () => clearTimeout(idle),
    },
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

/** For work that cannot be cancelled, such as `getaddrinfo`: a late result is dropped. */
export function unlessInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
