/** Secrets that sign sent or received messages: a secret field of a record, shown once. */
import { openSecret, type Stored } from '@gantry/resources';
import type { MasterKey } from './master-key.ts';
import type { Parts } from './parts.ts';

const SECRET_BYTES = 32;

export type SecretOptions = Pick<Parts, 'masterKey' | 'randomBytes'>;

export const newSecret = ({ randomBytes }: Pick<SecretOptions, 'randomBytes'>): string =>
  Buffer.from(randomBytes(SECRET_BYTES)).toString('hex');

export function secretOf<R extends object>(
  masterKey: Pick<MasterKey, 'open'>,
  stored: Stored<R>,
  field: keyof R & string,
): string {
  const secret = openSecret(masterKey, stored, field);
  if (secret === null)
    throw new Error('the secret was sealed with another key; start with its GANTRY_MASTER_KEY');
  return secret;
}
