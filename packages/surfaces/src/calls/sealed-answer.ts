/**
 * Recorded answers in journals of pack data. While a tenant has open secrets, its answers are sealed, because
 * a backend cannot detect a secret in an answer. Each record has its own key: the backend gets it with the
 * call, and stores it in a form that only the host can open. No imports of ours: threads start fast.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** The key of one record. */
export interface AnswerKey {
  readonly key: Uint8Array;
  /** The key as sealed by the host. Contains no colon. */
  readonly sealed: string;
}

/** Identifies a record. A key that the host sealed for it cannot be opened for another. */
export interface RecordPlace {
  readonly tenant: string;
  readonly journalKey: string;
}

export interface AnswerKeys {
  /** Undefined while the tenant has no open secrets. */
  make(place: RecordPlace): AnswerKey | undefined;
  /** Throws if the key was sealed for another place. */
  open(place: RecordPlace, sealed: string): Uint8Array;
}

/** A record is JSON, and no JSON begins with this. */
const SEALED = 'sealed:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** The text of a record. */
export function recordText({ answerKey }: { readonly answerKey?: AnswerKey }, answer: unknown): string {
  const text = JSON.stringify(answer ?? null);
  if (!answerKey) return text;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, answerKey.key, nonce);
  const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${SEALED}${answerKey.sealed}:${bytes.toString('base64')}`;
}

/** `open` answers the key for its sealed form. */
export function answerOnRecord(record: string, open: (sealed: string) => Uint8Array): unknown {
  if (!record.startsWith(SEALED)) return JSON.parse(record);
  const [, sealed = '', text = ''] = record.split(':');
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(CIPHER, open(sealed), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const clear = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
  return JSON.parse(Buffer.concat(clear).toString('utf8'));
}
