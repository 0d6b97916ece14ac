import { isValidAt } from '@gantry/packs';
import { given } from '@gantry/protocol';
import type { Reader } from '../catalogue/reader.ts';
import type { KeyDirectory, SigningKeyEntry } from '../derived/discovery.ts';
import { type Claim, trustedKey } from './claim.ts';
import type { Claims } from './claims.ts';

/** Keys and namespaces for the discovery document. */
export function createKeyDirectory(claims: Claims, now: () => number): KeyDirectory {
  const seenBy = (reader: Reader): Claim[] => claims.all().filter(({ namespace }) => reader.sees(namespace));
  return {
    signingKeys(reader) {
      return seenBy(reader).flatMap((claim): SigningKeyEntry[] =>
        claim.keys.map((key) => ({
          keyId: key.kid,
          algorithm: key.algorithm,
          publicKeyUrl: `/keys/${key.kid}.pub`,
          permittedNamespaces: [claim.namespace],
          operator: claim.owner,
          status:
            key.rotatedTo === undefined && isValidAt(trustedKey(claim, key), now()) ? 'active' : 'retired',
          validFrom: key.validFrom,
          ...given({ validUntil: key.validUntil }),
        })),
      );
    },
    namespaceAssignments(reader) {
      return seenBy(reader).map(({ namespace, owner, keys, claimedAt, contact }) =>
        given({ namespace, owner, claimedAt, signingKeyId: keys.at(-1)?.kid, contact }),
      );
    },
  };
}
