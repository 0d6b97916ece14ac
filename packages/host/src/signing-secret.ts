/** Secrets that sign what is sent or received. They are shown once, and kept only sealed. */
import type { MasterKey } from './master-key.ts';

const SECRET_BYTES = 32;

export interface SigningSecret {
  /** Shown once. */
  readonly secret: string;
  readonly secretSealed: string;
  readonly secretFingerprint: string;
}

/** `context` names the record that the secret belongs to: it opens for no other. */
export function mintSecret(
  { masterKey, randomBytes }: { masterKey: MasterKey; randomBytes: (count: number) => Uint8Array },
  context: string,
  fingerprintOf: (secret: string) => string,
): SigningSecret {
  const secret = Buffer.from(randomBytes(SECRET_BYTES)).toString('hex');
  return {
    secret,
    secretSealed: masterKey.seal(secret, context),
    secretFingerprint: fingerprintOf(secret),
  };
}

export function openSecret(masterKey: MasterKey, sealed: string, context: string): string {
  const secret = masterKey.open(sealed, context);
  if (secret === null)
    throw new Error('the secret was sealed with another key; start with its GANTRY_MASTER_KEY');
  return secret;
}
