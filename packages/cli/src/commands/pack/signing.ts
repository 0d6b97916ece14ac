/** Signatures as published packs carry them: Ed25519 over the packed pack.json, kept in the archive. */
import { archiveOf, keyIdOf, signEd25519, type WrittenArchive } from '@gantry/packs';
import type { Json } from '@gantry/protocol';

const SIGNATURE = 'keys/pack.json.sig';

/** Keys sorted, no spaces: the form in which registries sign manifests, and serve them. */
function canonical(value: Json): string {
  const sorted = (_key: string, item: unknown): unknown =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value, sorted);
}

export interface SigningKey {
  /** Where it was read from; its name without the ending is the key's id. */
  readonly file: string;
  readonly pem: string;
}

/** The same files with a manifest that names the key, and its signature. */
export function signFiles(files: ReadonlyMap<string, Uint8Array>, key: SigningKey): Promise<WrittenArchive> {
  const source = files.get('pack.json');
  const manifest = JSON.parse(new TextDecoder().decode(source));
  const signing = { method: 'manual', publicKeyRef: keyIdOf(key.file), signatureRef: SIGNATURE };
  const signed = Buffer.from(canonical({ ...manifest, signing }));
  const signature = signEd25519(key.pem, signed);
  return archiveOf(new Map([...files, ['pack.json', signed], [SIGNATURE, signature]]));
}
