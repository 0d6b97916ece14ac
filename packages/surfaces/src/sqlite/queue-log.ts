/** Messages of the embedded queues as they are kept: the payload and the headers are JSON. */
import type { DatabaseSync } from 'node:sqlite';
import type { Logged } from '../capabilities/queue/queue-store.ts';

export interface Kept {
  readonly seq: number;
  readonly message_id: string;
  readonly payload: string;
  readonly headers: string;
}

/** The plus keeps SQLite from looking through all messages of the tenant. Exported for its plan. */
export const MESSAGES = `
  select seq, message_id, payload, headers from queue_messages
  where +tenant = ? and seq in (select value from json_each(?))
`;

/** By their numbers, those that are still there. */
export function keptMessages(database: DatabaseSync) {
  const find = database.prepare(MESSAGES);
  return (tenant: string, seqs: readonly number[]): Kept[] => keptOf(find.all(tenant, JSON.stringify(seqs)));
}

export const keptOf = (rows: unknown): Kept[] => rows as Kept[];

export const loggedOf = ({ seq, message_id: messageId, payload, headers }: Kept): Logged => ({
  seq,
  messageId,
  payload: JSON.parse(payload),
  headers: JSON.parse(headers),
});
