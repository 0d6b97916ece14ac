/** Times that every request to S3 keeps, whatever the server does. */
import { inTime } from '../deadline.ts';

export interface S3Times {
  readonly connectMs: number;
  /** Until the answer begins. */
  readonly answerMs: number;
  /** Of a connection on which something is under way. */
  readonly silenceMs: number;
  /** Content that comes or goes slower than this is given up. */
  readonly bytesPerMsMin: number;
}

export const S3_TIMES: S3Times = {
  connectMs: 3_000,
  answerMs: 10_000,
  silenceMs: 20_000,
  bytesPerMsMin: 1_000,
};

/** The client tries what failed for the moment once more. */
export const ATTEMPTS_MAX = 2;

/** For content of this size, once the connection is there. */
export const contentMs = ({ answerMs, bytesPerMsMin }: S3Times, bytes: number): number =>
  answerMs + Math.ceil(bytes / bytesPerMsMin);

/** For a call with all its attempts. */
export const callMs = (times: S3Times, bytes = 0): number =>
  ATTEMPTS_MAX * (times.connectMs + contentMs(times, bytes));

export class Late extends Error {}

/** Rejects with `Late` when the time is over, and tells the work to end. */
export function abortedLate<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  return inTime(ms, work(over.signal), () => {
    over.abort();
    return new Late(`not done within ${Math.ceil(ms / 1_000)} s`);
  });
}
