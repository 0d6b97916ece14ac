/** How fast the body of an upload has to arrive: one that stands still would hold its slot for as long as it likes. */
import { OpenwopError } from '@gantry/protocol';

export interface ArrivalTerms {
  /** After the first bytes were due, and between two chunks. */
  readonly graceMs: number;
  /** From then on, on average. */
  readonly bytesPerSecond: number;
}

export const ARRIVAL: ArrivalTerms = { graceMs: 10_000, bytesPerSecond: 1_024 };

/** The same chunks; rejects when they come too slowly. */
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
    // Not awaited: a chunk that never comes would keep it waiting
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
    // What is still to come is not waited for
    headers: { connection: 'close' },
  });
