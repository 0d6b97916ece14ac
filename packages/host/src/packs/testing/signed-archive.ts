/** Packs that are signed as published ones are: a signature of pack.json inside the archive. */
import { archiveOf, readArchive, signEd25519, type TrustedKey } from '@gantry/packs';
import { acmeKey, acmeKeys, type KeyPair, keyPair } from '../../../../packs/src/testing/signed-pack.ts';
import { packArchive, type TestPack } from './pack-archive.ts';

export interface Publisher {
  readonly key: TrustedKey;
  readonly pair: KeyPair;
}

export const acme: Publisher = { key: acmeKey, pair: acmeKeys };

export function publisher(keyId: string, permittedNamespaces: readonly string[]): Publisher {
  const pair = keyPair();
  return { pair, key: { keyId, publicKey: pair.publicKey, permittedNamespaces, status: 'active' } };
}

export async function signedArchive(
  pack: TestPack,
  { key, pair }: Publisher = acme,
): Promise<{ bytes: Buffer; integrity: string }> {
  const signing = { method: 'manual', publicKeyRef: key.keyId, signatureRef: 'keys/pack.json.sig' };
  const unsigned = await packArchive({ ...pack, manifest: { ...pack.manifest, signing } });
  const { files, manifestBytes } = await readArchive(unsigned.bytes);
  const signature = signEd25519(pair.privateKey, manifestBytes);
  return archiveOf(new Map([...files, ['keys/pack.json.sig', signature]]));
}
