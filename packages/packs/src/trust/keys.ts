import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { Frozen } from '../json.ts';
import { Label, type Signing, strict } from '../manifest/fields.ts';

/** A key that a registry or an operator vouches for. A key inside an archive alone proves nothing. */
export const TrustedKey = strict({
  keyId: Label,
  /** PEM or base64, SPKI. */
  publicKey: Type.String({ minLength: 1, maxLength: 4096 }),
  /** `a.b.*` is the prefix `a.b.`; anything else is one name. */
  permittedNamespaces: Type.Array(Label, { minItems: 1, maxItems: 200 }),
  status: Type.Enum(['active', 'retired', 'revoked']),
  'validFrom?': Label,
  'validUntil?': Label,
});
export type TrustedKey = Frozen<Static<typeof TrustedKey>>;

export const permits = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );

/** `keys/2026-04.pem` and `2026-04` are the same key: manifests use paths, registries ids. */
export const keyIdOf = (ref: string): string =>
  ref.slice(ref.lastIndexOf('/') + 1).replace(/\.(pem|pub)$/, '');

/** The id of the signing key, as stated by a pack or its registry. */
export function signerOf(signing: Signing | undefined): string | undefined {
  const ref = signing?.keyId ?? signing?.publicKeyRef;
  return ref === undefined ? undefined : keyIdOf(ref);
}

/**
 * Whether the key was valid when the pack was published: a later expiry has no effect. Without a publication time,
 * the key must be valid now. `validFrom` is inclusive, `validUntil` exclusive.
 */
export function isValidAt({ validFrom, validUntil }: TrustedKey, at: number): boolean {
  const from = validFrom === undefined ? Number.NEGATIVE_INFINITY : Date.parse(validFrom);
  const until = validUntil === undefined ? Number.POSITIVE_INFINITY : Date.parse(validUntil);
  return from <= at && at < until;
}

/** A key of a registry's keychain. */
export const KeychainKey = Type.Object({
  kid: Type.String({ maxLength: 256 }),
  algorithm: Type.String({ maxLength: 64 }),
  publicKey: Type.String({ maxLength: 4096 }),
  validFrom: Type.String({ maxLength: 64 }),
  validUntil: Type.Optional(Type.String({ maxLength: 64 })),
  rotatedFrom: Type.Optional(Type.String({ maxLength: 256 })),
  rotatedTo: Type.Optional(Type.String({ maxLength: 256 })),
  /** Base64: the old key's signature over kid, publicKey and validFrom of the new one. */
  rotationProof: Type.Optional(Type.String({ maxLength: 1024 })),
});
export type KeychainKey = Frozen<Static<typeof KeychainKey>>;

export type KeychainJudgement =
  | { readonly valid: true; readonly keys: readonly KeychainKey[] }
  | { readonly valid: false; readonly kid: string; readonly reason: string };

const KEYS_MAX = 100;

/** A keychain is valid as a whole: its first keys are trusted, and each later one is signed by an earlier one. */
export function judgeKeychain(
  keys: readonly KeychainKey[],
  isTrustedRoot: (key: KeychainKey) => boolean,
): KeychainJudgement {
  if (keys.length > KEYS_MAX) return { valid: false, kid: '', reason: `has over ${KEYS_MAX} keys` };
  const known = new Map<string, KeychainKey>();
  const inOrder = keys.toSorted((left, right) => Date.parse(left.validFrom) - Date.parse(right.validFrom));
  for (const key of inOrder) {
    const reason = keyProblem(key, known, isTrustedRoot);
    if (reason !== undefined) return { valid: false, kid: key.kid, reason };
    known.set(key.kid, key);
  }
  return { valid: true, keys: inOrder };
}

function keyProblem(
  key: KeychainKey,
  known: ReadonlyMap<string, KeychainKey>,
  isTrustedRoot: (key: KeychainKey) => boolean,
): string | undefined {
  if (known.has(key.kid)) return 'is a duplicate';
  if (key.algorithm.toLowerCase() !== 'ed25519' || !readPublicKey(key.publicKey))
    return 'is not an Ed25519 key';
  if (Number.isNaN(Date.parse(key.validFrom))) return 'does not say from when it is valid';
  if (key.rotatedFrom === undefined) return isTrustedRoot(key) ? undefined : 'is new and not vouched for';
  const old = known.get(key.rotatedFrom);
  if (old === undefined) return `follows ${key.rotatedFrom}, which is not before it in the keychain`;
  return isRotationProved(old, key) ? undefined : 'is not signed by the key that it follows';
}

/** The proof covers kid, publicKey and validFrom of the new key, concatenated. */
export function isRotationProved(old: KeychainKey, next: KeychainKey): boolean {
  const key: KeyObject | undefined = readPublicKey(old.publicKey);
  if (key === undefined || next.rotationProof === undefined) return false;
  const message = Buffer.from(`${next.kid}${next.publicKey}${next.validFrom}`, 'utf8');
  return verifyEd25519(key, message, Buffer.from(next.rotationProof, 'base64'));
}

const SIGNATURE_BYTES = 64;
const PEM_LENGTH_MAX = 4096;

/** A PEM (SPKI) or bare base64 SPKI public key; undefined unless it is Ed25519. */
export function readPublicKey(source: string): KeyObject | undefined {
  if (source.length > PEM_LENGTH_MAX) return undefined;
  try {
    const key = source.includes('-----BEGIN PUBLIC KEY-----')
      ? createPublicKey(source)
      : createPublicKey({ key: Buffer.from(source, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Detached signatures are exactly 64 raw bytes. */
export function verifyEd25519(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, message, key, signature);
}

/** Signs with a private key in PEM (PKCS #8). */
export const signEd25519 = (privateKey: string, message: Uint8Array): Buffer =>
  sign(null, message, createPrivateKey(privateKey));

/** The SRI form of registries, lockfiles and workflow pins: exactly one SHA-256. */
export const INTEGRITY = /^sha256-[A-Za-z0-9+/]{43}=$/;

export const integrityOf = (bytes: Uint8Array): string =>
  `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
