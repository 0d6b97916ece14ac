/** New subscriptions and their secrets. */
import type { MasterKey } from '../master-key.ts';
import { type Subscription, secretContext, type TriggerKey, type Wanted } from './subscription.ts';

const SECRET_BYTES = 32;
const FINGERPRINT_LENGTH = 16;

export interface Mint {
  readonly masterKey: MasterKey;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly now: () => number;
}

export interface NewSecret {
  readonly secret: string;
  readonly secretSealed: string;
  /** Keyed by the host: nobody can try out secrets against it. */
  readonly secretFingerprint: string;
}

export function mintSecret({ masterKey, randomBytes }: Mint, key: TriggerKey): NewSecret {
  const secret = Buffer.from(randomBytes(SECRET_BYTES)).toString('hex');
  return {
    secret,
    secretSealed: masterKey.seal(secret, secretContext(key)),
    secretFingerprint: masterKey
      .hmac('trigger-secret')(`${key.subscriptionId}\0${secret}`)
      .toString('hex')
      .slice(0, FINGERPRINT_LENGTH),
  };
}

export function mintSubscription(
  mint: Mint,
  key: TriggerKey,
  wanted: Wanted,
): { readonly secret: string; readonly subscription: Subscription } {
  const { secret, ...sealed } = mintSecret(mint, key);
  const { tenant, subscriptionId } = key;
  const fresh = {
    state: 'active',
    exhaustedInARow: 0,
    changes: [],
    createdAt: mint.now(),
    version: 0,
  } as const;
  return { secret, subscription: { tenant, subscriptionId, ...wanted, ...sealed, ...fresh } };
}
