/** One HTTP/1.1 request and its response over an open connection. */
import type * as Undici from 'undici';
import { EgressError, type EgressReason, egressError } from './error.ts';
import type { Interruption } from './interruption.ts';
import type { Line } from './line.ts';
import type { Outgoing } from './outgoing.ts';
import { type Head, Reception, SWITCHED } from './reception.ts';
import type { Target } from './target.ts';

export interface Answer {
  readonly head: Head;
  /** The address that answers. */
  readonly address: string;
  /** The whole body as received, or `response_too_large`. */
  read(): Promise<Uint8Array>;
  /** The body as it arrives. `ended` is called once, however it ends. The consumer must read or cancel the stream. */
  stream(ended: () => void): ReadableStream<Uint8Array>;
  /** Discards the rest of the body. */
  close(): void;
}

function reasonOf({ errors }: typeof Undici, error: unknown): EgressReason {
  if (error instanceof errors.HeadersOverflowError) return 'response_too_large';
  if (error instanceof errors.HTTPParserError) return 'response_invalid';
  if (error instanceof errors.ResponseContentLengthMismatchError) return 'response_invalid';
  // undici closes the connection at an unrequested 101; only this text shows it.
  if (error instanceof errors.SocketError && error.message === 'bad upgrade') return 'upgrade_not_allowed';
  return 'connect_failed';
}

const HAPPENED: Partial<Record<EgressReason, string>> = {
  response_too_large: 'The headers of the answer are too large.',
  response_invalid: 'The answer is not valid HTTP.',
  upgrade_not_allowed: SWITCHED,
};

function failure(undici: typeof Undici, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof EgressError) return error;
  const reason = reasonOf(undici, error);
  const happened = HAPPENED[reason] ?? 'The connection broke before the answer was complete.';
  return egressError(reason, happened, error);
}

export interface ExchangeTerms extends Pick<Interruption, 'signal' | 'silence'> {
  readonly bytesMax: number;
  /** Called once when the response ends. After a complete one the line may be reused; otherwise it is destroyed. */
  ended(line: Line, isWhole: boolean): void;
}

export async function exchange(
  undici: typeof Undici,
  line: Line,
  { url }: Pick<Target, 'url'>,
  { method, headers, body }: Outgoing,
  { signal, silence, bytesMax, ended }: ExchangeTerms,
): Promise<Answer> {
  const close = () => line.destroy();
  const reception = new Reception({
    bytesMax,
    silence,
    failure: (error) => failure(undici, error, signal),
    ended: (isWhole) => {
      signal.removeEventListener('abort', close);
      if (!isWhole) close();
      ended(line, isWhole);
    },
  });
  signal.addEventListener('abort', close, { once: true });
  line.client.dispatch(
    {
      path: url.pathname + url.search,
      method,
      headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
      body: body ?? null,
    },
    reception,
  );
  if (signal.aborted) close();
  const head = await reception.head.promise;
  return {
    head,
    address: line.address,
    read: () => reception.read(),
    stream: (done) => reception.stream(close, done),
    close,
  };
}
