/** The minimum speed of uploads: a stalled body would hold its slot without limit. */
import { OpenwopError } from '@gantry/protocol';

export interface ArrivalTerms {
  /** The time until the first bytes, and between two chunks. */
  readonly graceMs: number;
  /** The average after that time. */
  readonly bytesPerSecond: number;
}

export const ARRIVAL: ArrivalTerms = { graceMs: 10_000, bytesPerSecond: 1_024 };

/** Yields the same chunks; rejects if they arrive too slowly. */
export async function* arriving(
  body: AsyncIterable<Uint8Array>,
  { graceMs, bytesPerSecond }: ArrivalTerms,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const began = performance.now();
  let received = 0;
  try {
    for (;;) {
      const { done, value } = await within(chunks.next(), graceMs);
      if (done) return;
      received += value.length;
      const overdueMs = performance.now() - began - graceMs;
      if (received < (overdueMs / 1_000) * bytesPerSecond) throw tooSlow();
      yield value;
    }
  } finally {
    // Not awaited: it would wait for a chunk that never arrives
    void chunks.return?.().catch(() => {});
  }
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const tooSlow = (): OpenwopError =>
  new OpenwopError('invalid_body', {
    message: 'The body arrived too slowly. Send it again over a faster connection.',
    // Do not wait for the rest of the body
    headers: { connection: 'close' },
  });
