/** What callers may do with dead letters. */
import type { DeadLetter, DeadLetterRetry } from '@gantry/protocol';
import type { Caller } from '@gantry/resources';
import { DEAD_LETTER, deadLetters, toDeadLetter } from './dead-letter.ts';
import { createRetry, type RetryOptions } from './retry.ts';

export class DeadLetterService {
  readonly #options: RetryOptions;
  /** The letter goes in the commit of what is made of it: of two retries one wins. */
  readonly retry: (caller: Caller, id: string) => Promise<DeadLetterRetry>;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.retry = createRetry(options);
  }

  async list(tenant: string, limit: number, beforeId: string | undefined): Promise<DeadLetter[]> {
    const filter = { limit, ...(beforeId !== undefined && { beforeId }) };
    return (await this.#options.store.entries.list(DEAD_LETTER, tenant, filter)).map(toDeadLetter);
  }

  /** Takes it off the list. The run or delivery itself stays as long as it would. */
  acknowledge(caller: Caller, id: string): Promise<null> {
    return this.#options.changes.run(caller, async (change) => {
      change.delete(await change.get(deadLetters, id));
      return null;
    });
  }
}
