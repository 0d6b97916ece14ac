/** What could not be done, as an entry of the store. */
import { type DeadLetter, newId } from '@gantry/protocol';
import type { RecordKind } from '@gantry/resources';
import type { Entry, EntryKey, Write } from '@gantry/store';

export const DEAD_LETTER = 'dead-letter';

type Letter<T> = T extends DeadLetter ? Omit<T, 'deadLetterId' | 'createdAt' | 'expiresAt'> : never;
export type DeadLetterBody = Letter<DeadLetter>;

export const deadLetters: RecordKind<DeadLetterBody> = { kind: DEAD_LETTER, idPrefix: 'dl' };

/** How dead letters are made in this process. */
export interface DeadLetterOffice {
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
}

export function deadLetterWrite(office: DeadLetterOffice, tenant: string, body: DeadLetterBody): Write {
  const at = office.now();
  return {
    kind: 'putEntry',
    entry: {
      ...deadLetterKey(tenant, newId(deadLetters.idPrefix, at, office.randomBytes)),
      ref: body.type === 'run' ? body.runId : body.deliveryId,
      dueAt: null,
      expiresAt: at + office.retentionMs,
      createdAt: at,
      body: JSON.stringify(body),
    },
    expectedVersion: null,
  };
}

export const deadLetterKey = (tenant: string, id: string): EntryKey => ({ kind: DEAD_LETTER, tenant, id });

const isoTime = (at: number): string => new Date(at).toISOString();

export function toDeadLetter({ id, createdAt, expiresAt, body }: Entry): DeadLetter {
  const parsed: DeadLetterBody = JSON.parse(body);
  return {
    ...parsed,
    deadLetterId: id,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt ?? createdAt),
  };
}
