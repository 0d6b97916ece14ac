import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

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

/** Detached signatures are 64 raw bytes, nothing around them. */
export function verifyEd25519(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, message, key, signature);
}

/** Signs with a private key in PEM (PKCS #8). */
export const signEd25519 = (privateKey: string, message: Uint8Array): Buffer =>
  sign(null, message, createPrivateKey(privateKey));
