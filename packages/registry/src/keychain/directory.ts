import { isValidAt } from '@gantry/packs';
import type { KeyDirectory, SigningKeyEntry } from '../derived/discovery.ts';
import type { MirroredKey, MirroredKeys } from '../mirror/mirrored-keys.ts';
import { trustedKey } from './claim.ts';
import type { Claims } from './claims.ts';

/** What the registry tells everybody about the keys and namespaces that it knows. */
export function createKeyDirectory(
  claims: Claims,
  mirrored: Pick<MirroredKeys, 'keys' | 'assignments'>,
  now: () => number,
): KeyDirectory {
  return {
    signingKeys() {
      const own = claims.all().flatMap((claim): SigningKeyEntry[] =>
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
      const isOwn = ({ keyId }: MirroredKey): boolean => claims.ownKey(keyId) !== undefined;
      return [
        ...own,
        ...mirrored
          .keys()
          .filter((key) => !isOwn(key))
          .map(mirroredEntry),
      ];
    },
    namespaceAssignments() {
      const own = claims.all().map(({ namespace, owner, keys, claimedAt, contact }) => {
        const signingKeyId = keys.at(-1)?.kid;
        return {
          namespace,
          owner,
          claimedAt,
          ...(signingKeyId !== undefined && { signingKeyId }),
          ...(contact !== undefined && { contact }),
        };
      });
      return [...own, ...mirrored.assignments()];
    },
  };
}

const mirroredEntry = ({ publicKey: _, ...key }: MirroredKey): SigningKeyEntry => ({
  ...key,
  publicKeyUrl: `/keys/${key.keyId}.pub`,
});
