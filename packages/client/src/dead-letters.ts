import type { deadLettersWire } from '@gantry/protocol';
import { DEAD_LETTERS } from '@gantry/protocol/tables';
import { api, type Page, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

type All = ResourceApi<typeof deadLettersWire>;

export type DeadLetterPage = Page<typeof deadLettersWire>;

/** Runs and events that could not be done, kept for people to look at. */
export interface DeadLetters extends Pick<All, 'list' | 'get'> {
  /** Forks a run before the node that failed, or delivers an event again. */
  retry(deadLetterId: string): ReturnType<All['retry']>;
  /** Takes it off the list. */
  acknowledge(deadLetterId: string): Promise<void>;
}

export function createDeadLetters(transport: Transport): DeadLetters {
  const { list, get, retry, remove } = api<typeof deadLettersWire>(transport, DEAD_LETTERS);
  return {
    list,
    get,
    retry,
    async acknowledge(deadLetterId) {
      await remove(deadLetterId);
    },
  };
}
