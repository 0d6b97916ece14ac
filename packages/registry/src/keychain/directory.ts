import { isValidAt } from '@gantry/packs';
import type { KeyDirectory, SigningKeyEntry } from '../derived/discovery.ts';
import { trustedKey } from './claim.ts';
import type { Claims } from './claims.ts';

/** Keys and namespaces for the discovery document. */
export function createKeyDirectory(claims: Claims, now: () => number): KeyDirectory {
  return {
    signingKeys() {
      return claims.all().flatMap((claim): SigningKeyEntry[] =>
        claim.keys.map((key) => ({
          keyId: key.kid,
          algorithm: key.algorithm,
          publicKeyUrl: `/keys/${key.kid}.pub`,
          permittedNamespaces: [claim.namespace],
          operator: claim.owner,
          status:
            key.rotatedTo === undefined && isValidAt(trustedKey(claim, key), now()) ? 'active' : 'retired',
          validFrom: key.validFrom,
          ...(key.validUntil !== undefined && { validUntil: key.validUntil }),
        })),
      );
    },
    namespaceAssignments() {
      return claims.all().map(({ namespace, owner, keys, claimedAt, contact }) => {
        const signingKeyId = keys.at(-1)?.kid;
        return {
          namespace,
          owner,
          claimedAt,
          ...(signingKeyId !== undefined && { signingKeyId }),
          ...(contact !== undefined && { contact }),
        };
      });
    },
  };
}
