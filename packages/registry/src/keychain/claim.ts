/** A claim: the tenants that publish under a namespace, and their keys. Pure. */
import {
  isRotationProved,
  isValidAt,
  type KeychainKey,
  keyIdOf,
  permits,
  readPublicKey,
  type TrustedKey,
} from '@gantry/packs';
import { invalid, OpenwopError } from '@gantry/protocol';
import { checkScope } from '../publish/address.ts';

export interface Claim {
  /** `a.b.*` is every name that starts with `a.b.`; without the star it is one name. */
  readonly namespace: string;
  /** The tenant that claimed it, or that the operator assigned. */
  readonly owner: string;
  /** Other tenants that may publish under it. */
  readonly publishers: readonly string[];
  readonly contact?: string;
  /** Oldest first. */
  readonly keys: readonly KeychainKey[];
  readonly claimedAt: string;
}

const NAMESPACE =
  /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*((\.[a-z][a-zA-Z0-9_-]*)+|(\.[a-z][a-zA-Z0-9_-]*)*\.\*)$/;
const NAMESPACE_LENGTH_MAX = 256;
const KEYS_MAX = 100;

export function checkNamespace(namespace: string, scopes: readonly string[]): void {
  if (namespace.length > NAMESPACE_LENGTH_MAX || !NAMESPACE.test(namespace))
    throw new OpenwopError('invalid_pack_name', {
      message: 'A namespace is a pattern such as vendor.acme.* or the name of one pack.',
    });
  checkScope(namespace, scopes);
}

/** Whether a name could belong to both. */
export function overlap(left: string, right: string): boolean {
  const [first, second] = [left, right].map((pattern) => pattern.replace(/\*$/, '')) as [string, string];
  if (left === right) return true;
  return (
    (left.endsWith('.*') && second.startsWith(first)) || (right.endsWith('.*') && first.startsWith(second))
  );
}

/**
 * The `vendor.acme` prefix of a name. It belongs to the first account that claims or publishes under it. Undefined
 * for other names.
 */
export const vendorOf = (name: string): string | undefined => /^vendor\.[^.]+(?=\.)/.exec(name)?.[0];

/** Whether the two cannot belong to different accounts. */
export function excludes(left: string, right: string): boolean {
  const vendor = vendorOf(left);
  return overlap(left, right) || (vendor !== undefined && vendor === vendorOf(right));
}

export const mayPublish = ({ owner, publishers }: Claim, tenant: string): boolean =>
  owner === tenant || publishers.includes(tenant);

export const covers = ({ namespace }: Claim, name: string): boolean => permits([namespace], name);

export const trustedKey = ({ namespace }: Claim, key: KeychainKey): TrustedKey => ({
  keyId: key.kid,
  publicKey: key.publicKey,
  permittedNamespaces: [namespace],
  status: key.rotatedTo === undefined ? 'active' : 'retired',
  validFrom: key.validFrom,
  ...(key.validUntil !== undefined && { validUntil: key.validUntil }),
});

/** Refuses a key that clients could not use. */
export function checkKey(key: KeychainKey): void {
  const from = Date.parse(key.validFrom);
  const until = key.validUntil === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.validUntil);
  const problem =
    keyIdOf(key.kid) !== key.kid
      ? `${key.kid} is not a valid key id: manifests would read it as ${keyIdOf(key.kid)}`
      : readPublicKey(key.publicKey) === undefined
        ? 'publicKey is not an Ed25519 key in SPKI form'
        : Number.isNaN(from) || Number.isNaN(until) || from >= until
          ? 'validFrom must be a time before validUntil'
          : undefined;
  if (problem !== undefined) throw invalid(`${problem}.`);
}

/** Limits the validity of a key to this time. Earlier signatures stay valid. */
function ended(key: KeychainKey, at: number): KeychainKey {
  const until = Math.min(at, key.validUntil === undefined ? at : Date.parse(key.validUntil));
  return { ...key, validUntil: new Date(until).toISOString() };
}

/** The keychain with a new key that only the operator has confirmed. */
export function restarted(keys: readonly KeychainKey[], key: KeychainKey, now: number): KeychainKey[] {
  const last = keys.at(-1);
  return last === undefined ? [key] : [...keys.slice(0, -1), ended(last, now), key];
}

/** The claim after a rotation: the old key ends when the new one starts, but not before now. */
export function rotated(claim: Claim, next: KeychainKey, now: number): Claim {
  const old = claim.keys.at(-1);
  if (old === undefined)
    throw new OpenwopError('conflict', {
      message: `${claim.namespace} has no key to rotate. Claim it with a signing key first.`,
    });
  const following: KeychainKey = { ...next, rotatedFrom: old.kid };
  // The proof comes first: without it the caller learns nothing about the keychain.
  if (!isRotationProved(old, following))
    throw new OpenwopError('signature_invalid', {
      message: `rotationProof is not a signature of the key ${old.kid} over kid, publicKey and validFrom.`,
    });
  if (!isValidAt(trustedKey(claim, old), now))
    throw new OpenwopError('signature_invalid', {
      message: `The key ${old.kid} is not valid now. Ask the operator of the registry to add a new one.`,
    });
  refuseUnfit(claim, old, following);
  const retired = ended(old, Math.max(Date.parse(following.validFrom), now));
  return {
    ...claim,
    keys: [...claim.keys.slice(0, -1), { ...retired, rotatedTo: following.kid }, following],
  };
}

function refuseUnfit({ keys }: Claim, old: KeychainKey, next: KeychainKey): void {
  checkKey(next);
  if (Date.parse(next.validFrom) <= Date.parse(old.validFrom))
    throw invalid(`validFrom must be later than ${old.validFrom}, the validFrom of the key ${old.kid}.`);
  if (keys.length >= KEYS_MAX)
    throw new OpenwopError('conflict', { message: `A keychain has at most ${KEYS_MAX} keys.` });
}
