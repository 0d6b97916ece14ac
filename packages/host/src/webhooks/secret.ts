import { hash } from 'node:crypto';
import type { MasterKey } from '../master-key.ts';
import type { Secrets } from './signature.ts';
import { type Subscription, sealedSecrets, secretContext, type WebhookKey } from './subscription.ts';

const SECRET_BYTES = 32;
const FINGERPRINT_LENGTH = 8;

export interface NewSecret extends Pick<Subscription, 'secretSealed' | 'secretFingerprint'> {
  /** Shown once. */
  readonly secret: string;
}

export function mintSecret(
  masterKey: MasterKey,
  key: WebhookKey,
  randomBytes: (count: number) => Uint8Array,
): NewSecret {
  const secret = Buffer.from(randomBytes(SECRET_BYTES)).toString('hex');
  return {
    secret,
    secretSealed: masterKey.seal(secret, secretContext(key)),
    secretFingerprint: hash('sha256', secret, 'hex').slice(0, FINGERPRINT_LENGTH),
  };
}

/** What signs now. */
export function openSecrets(masterKey: MasterKey, subscription: Subscription, now: number): Secrets {
  return sealedSecrets(subscription, now).map((sealed) => {
    const secret = masterKey.open(sealed, secretContext(subscription));
    if (secret === null)
      throw new Error('the secret was sealed with another key; start with its GANTRY_MASTER_KEY');
    return secret;
  });
}
