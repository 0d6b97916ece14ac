/** What callers may do with dead letters. */
import { type DeadLetter, type DeadLetterRetry, OpenwopError } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import { DEAD_LETTER, deadLetterKey, toDeadLetter } from './dead-letter.ts';
import { createRetry, type RetryOptions } from './retry.ts';

export interface DeadLetterAddress {
  readonly tenant: string;
  readonly deadLetterId: string;
}

export class DeadLetterDesk {
  readonly #options: RetryOptions;
  readonly #retry: ReturnType<typeof createRetry>;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#retry = createRetry(options);
  }

  async list(tenant: string, limit: number, beforeId: string | undefined): Promise<DeadLetter[]> {
    const filter = { limit, ...(beforeId !== undefined && { beforeId }) };
    return (await this.#options.store.entries.list(DEAD_LETTER, tenant, filter)).map(toDeadLetter);
  }

  /** Somebody has seen to it. The run or delivery itself stays as long as it would. */
  async acknowledge(
    address: DeadLetterAddress,
    record: () => readonly Write[],
  ): Promise<'done' | 'duplicate'> {
    const entry = await this.#find(address);
    const [result] = await this.#options.store.commit([[removal(entry), ...record()]]);
    if (result?.won) return 'done';
    if (result?.reason === 'stale') throw gone();
    return 'duplicate';
  }

  /** The letter goes in the commit of what is made of it: of two retries one wins. */
  async retry(
    address: DeadLetterAddress,
    record: (answer: DeadLetterRetry) => readonly Write[],
  ): Promise<DeadLetterRetry | 'duplicate'> {
    const entry = await this.#find(address);
    const { tenant } = address;
    return this.#retry({ tenant, letter: toDeadLetter(entry), removal: removal(entry), record });
  }

  async #find({ tenant, deadLetterId }: DeadLetterAddress): Promise<Entry> {
    const entry = await this.#options.store.entries.get(deadLetterKey(tenant, deadLetterId));
    if (!entry) throw gone();
    return entry;
  }
}

const gone = (): OpenwopError =>
  new OpenwopError('not_found', { message: 'There is no such dead letter, or someone has seen to it.' });

const removal = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});
