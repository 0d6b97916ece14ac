import { given, OpenwopError } from '@gantry/protocol';
import { judgeKeychain, type KeychainKey, permits, readPublicKey, type TrustedKey } from '../trust/keys.ts';
import type { Keychain } from './documents.ts';

export interface KeyVouching {
  /** The keys in the registry's discovery. */
  readonly listed: readonly TrustedKey[];
  /** The operator's keys for this registry. If set, keys that the registry lists are not trusted. */
  readonly roots?: readonly TrustedKey[] | undefined;
  readonly keychain?: Keychain | undefined;
  readonly registryUrl: string;
}

/**
 * The keys that may sign a pack: the listed ones or the operator's, and those of the keychain. A keychain key must be a
 * listed one, follow a known one with its proof, or, without keys of the operator, be the first of its namespace.
 */
export function trustedKeys(
  name: string,
  { listed, roots, keychain, registryUrl }: KeyVouching,
): TrustedKey[] {
  const vouched = roots ?? listed;
  if (keychain === undefined) return [...vouched];
  const namespaces = namespacePatterns(keychain.namespace);
  if (!permits(namespaces, name))
    throw untrusted(name, registryUrl, `it is the one of ${keychain.namespace}`);
  const rootOf = (key: KeychainKey): TrustedKey | undefined =>
    vouched.find((root) => root.keyId === key.kid && isSameKey(root.publicKey, key.publicKey));
  const isTaken = (key: KeychainKey): boolean => vouched.some(({ keyId }) => keyId === key.kid);
  const judgement = judgeKeychain(
    keychain.keys,
    (key) => rootOf(key) !== undefined || (roots === undefined && !isTaken(key)),
  );
  if (!judgement.valid) throw untrusted(name, registryUrl, `its key ${judgement.kid} ${judgement.reason}`);
  const known = new Map<string, TrustedKey>();
  for (const key of judgement.keys) {
    const before = key.rotatedFrom === undefined ? undefined : known.get(key.rotatedFrom);
    const root = rootOf(key);
    known.set(key.kid, {
      keyId: key.kid,
      publicKey: key.publicKey,
      permittedNamespaces: root?.permittedNamespaces ?? before?.permittedNamespaces ?? namespaces,
      status: root?.status ?? 'active',
      validFrom: key.validFrom,
      ...given({ validUntil: key.validUntil }),
    });
  }
  return [...vouched.filter(({ keyId }) => !known.has(keyId)), ...known.values()];
}

/** Both `vendor.acme` and `vendor.acme.*` are in use for the same namespace. */
const namespacePatterns = (namespace: string): string[] =>
  namespace.endsWith('.*') ? [namespace] : [namespace, `${namespace}.*`];

function isSameKey(left: string, right: string): boolean {
  const [one, other] = [readPublicKey(left), readPublicKey(right)];
  return one !== undefined && other !== undefined && one.equals(other);
}

const untrusted = (name: string, registryUrl: string, why: string): OpenwopError =>
  new OpenwopError('pack_signature_unverifiable', {
    message: `The keychain of ${name} at ${registryUrl} is not trusted: ${why}. Ask the operator of the registry, or configure the publisher's key.`,
    details: { packName: name, registry: registryUrl },
  });
