/** Packs that are signed as published ones are: a signature of pack.json inside the archive. */
import {
  archiveOf,
  FILE_LIST,
  FILE_LIST_SIGNATURE,
  readArchive,
  signEd25519,
  type TrustedKey,
  withFileList,
} from '@gantry/packs';
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

/** The same with a second signature, over the list of its files. */
export async function filesSignedArchive(
  pack: TestPack,
  by: Publisher = acme,
): Promise<{ bytes: Buffer; integrity: string }> {
  const { files, manifestBytes } = await readArchive((await signedArchive(pack, by)).bytes);
  const { name, version } = JSON.parse(manifestBytes.toString('utf8'));
  const listed = withFileList(files, { name, version, keyId: by.key.keyId });
  const signature = signEd25519(by.pair.privateKey, listed.get(FILE_LIST) ?? new Uint8Array());
  return archiveOf(listed.set(FILE_LIST_SIGNATURE, signature));
}

/** An archive with some of its files replaced, or left out. */
export async function swapped(
  { bytes }: { bytes: Buffer },
  changes: Readonly<Record<string, string | undefined>>,
): Promise<{ bytes: Buffer; integrity: string }> {
  const files = new Map<string, Uint8Array>((await readArchive(bytes)).files);
  for (const [path, text] of Object.entries(changes)) {
    if (text === undefined) files.delete(path);
    else files.set(path, Buffer.from(text));
  }
  return archiveOf(files);
}
