/** What the writer answers to a lease. */
import type { Granted } from '../queue/queue-store.ts';
import type { Kept } from './queue-log.ts';

export interface AnsweredLease extends Omit<Granted, 'messages'> {
  /** Absent when the answer comes from the record. */
  readonly messages?: readonly Kept[];
}

/** The messages travel with the answer, which saves a second question; the record has what JSON shows. */
export class NewLease implements AnsweredLease {
  readonly handles: readonly string[];
  readonly buried: boolean;
  readonly messages: readonly Kept[];

  constructor({ handles, buried, messages }: Required<AnsweredLease>) {
    this.handles = handles;
    this.buried = buried;
    this.messages = messages;
  }

  toJSON(): AnsweredLease {
    return { handles: this.handles, buried: this.buried };
  }
}
