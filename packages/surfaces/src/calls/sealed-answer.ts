/**
 * Answers on record in journals of pack data. While a tenant has secrets open they are sealed: a backend cannot tell
 * whether one is in an answer. Each has a key of its own, which goes to the backend with the call and on record in a
 * form that the host alone opens. Loads nothing of ours: threads start fast.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Of one record. */
export interface AnswerKey {
  readonly key: Uint8Array;
  /** The key as the host sealed it. It has no colon. */
  readonly sealed: string;
}

/** Where a record is; what the host seals for it opens nowhere else. */
export interface RecordPlace {
  readonly tenant: string;
  readonly journalKey: string;
}

export interface AnswerKeys {
  /** Undefined while the tenant has no secrets open. */
  make(place: RecordPlace): AnswerKey | undefined;
  /** Throws for what was sealed elsewhere. */
  open(place: RecordPlace, sealed: string): Uint8Array;
}

/** A record is JSON, which nothing that begins so is. */
const SEALED = 'sealed:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** What is put on record. */
export function recordText({ answerKey }: { readonly answerKey?: AnswerKey }, answer: unknown): string {
  const text = JSON.stringify(answer ?? null);
  if (!answerKey) return text;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, answerKey.key, nonce);
  const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${SEALED}${answerKey.sealed}:${bytes.toString('base64')}`;
}

/** `open` answers the key that the host sealed. */
export function answerOnRecord(record: string, open: (sealed: string) => Uint8Array): unknown {
  if (!record.startsWith(SEALED)) return JSON.parse(record);
  const [, sealed = '', text = ''] = record.split(':');
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(CIPHER, open(sealed), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const clear = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
  return JSON.parse(Buffer.concat(clear).toString('utf8'));
}
