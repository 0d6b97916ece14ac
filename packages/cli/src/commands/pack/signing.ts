/**
 * Two detached Ed25519 signatures in the archive: one of the packed pack.json, as in published packs, and one
 * of files.json, which covers the code.
 */
import {
  archiveOf,
  FILE_LIST,
  FILE_LIST_SIGNATURE,
  keyIdOf,
  MANIFEST_SIGNATURE,
  signEd25519,
  type WrittenArchive,
  withFileList,
} from '@gantry/packs';
import type { Json } from '@gantry/protocol';

/** Their public schema has no member `signing`; files.json names the key. */
const SIGNED_DETACHED_ONLY = ['frontend-plugin'];

/** Sorted keys, no spaces: the form in which registries sign and serve manifests. */
function canonical(value: Json): string {
  const sorted = (_key: string, item: unknown): unknown =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value, sorted);
}

export interface SigningKey {
  /** The path of the file; its name without the extension is the id of the key. */
  readonly file: string;
  readonly pem: string;
}

/** The same files with a manifest that names the key, the list of files, and both signatures. */
export function signFiles(files: ReadonlyMap<string, Uint8Array>, key: SigningKey): Promise<WrittenArchive> {
  const source = files.get('pack.json') ?? new Uint8Array();
  const manifest = JSON.parse(new TextDecoder().decode(source));
  const keyId = keyIdOf(key.file);
  const signing = { method: 'manual', publicKeyRef: keyId, signatureRef: MANIFEST_SIGNATURE };
  const packed = SIGNED_DETACHED_ONLY.includes(manifest.kind)
    ? source
    : Buffer.from(canonical({ ...manifest, signing }));
  const signature = signEd25519(key.pem, packed);
  const { name, version } = manifest;
  const signed = new Map([
    ...files,
    ['pack.json', packed] as const,
    [MANIFEST_SIGNATURE, signature] as const,
  ]);
  const listed = withFileList(signed, { name, version, keyId });
  const list = listed.get(FILE_LIST) ?? new Uint8Array();
  return archiveOf(listed.set(FILE_LIST_SIGNATURE, signEd25519(key.pem, list)));
}
