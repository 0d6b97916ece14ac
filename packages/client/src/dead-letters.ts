import type { DeadLetter, DeadLetterRetry } from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface DeadLetterPage {
  deadLetters: DeadLetter[];
  /** Pass as `before` to get the next, older page. */
  nextBefore?: string;
}

/** Runs and events that could not be done, kept for people to look at. */
export interface DeadLetters {
  /** Newest first. */
  list(page?: { before?: string; limit?: number }): Promise<DeadLetterPage>;
  /** Forks a run before the node that failed, or delivers an event again. */
  retry(deadLetterId: string): Promise<DeadLetterRetry>;
  /** Takes it off the list. */
  acknowledge(deadLetterId: string): Promise<void>;
}

const DEAD_LETTERS = '/v1/host/gantry/dead-letters';

export function createDeadLetters(transport: Transport): DeadLetters {
  const { read, send, remove } = createCalls(transport);
  const letterPath = (deadLetterId: string) => `${DEAD_LETTERS}/${encodeURIComponent(deadLetterId)}`;
  return {
    list: (page = {}) => read(DEAD_LETTERS, { ...page }),
    retry: (deadLetterId) => send(`${letterPath(deadLetterId)}:retry`, {}),
    async acknowledge(deadLetterId) {
      await remove(letterPath(deadLetterId));
    },
  };
}
