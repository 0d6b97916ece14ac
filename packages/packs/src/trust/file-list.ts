/** `files.json` lists all other files of an archive by size and SHA-256, so that one more signature covers the code. */
import { createHash } from 'node:crypto';
import Type from 'typebox';
import { Check } from 'typebox/schema';
import { ARCHIVE_LIMITS } from '../archive/limits.ts';
import { jsonOf } from '../json.ts';
import { Label, list, open, type Signing } from '../manifest/fields.ts';

export const FILE_LIST = 'files.json';
export const FILE_LIST_SIGNATURE = 'files.json.sig';
export const FILE_LIST_BUNDLE = 'files.json.sigstore';

/** These cannot list themselves. */
export const FILE_LIST_FILES: readonly string[] = [FILE_LIST, FILE_LIST_SIGNATURE, FILE_LIST_BUNDLE];
export const MANIFEST_SIGNATURE = 'keys/pack.json.sig';
const BYTES_MAX = 2 * 1024 * 1024;

/** What a signature covers: the manifest only, every file of the archive, or the archive itself. */
export const SIGNATURE_COVERS = ['manifest', 'files', 'archive'] as const;
export type SignatureCovers = (typeof SIGNATURE_COVERS)[number];

export interface FileDigest {
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}
export type FileDigests = ReadonlyMap<string, FileDigest>;
type Files = ReadonlyMap<string, Uint8Array>;

const ListedFile = open({ path: Type.String(), size: Type.Integer(), sha256: Type.String() });
const FileList = open({
  name: Type.String(),
  version: Type.String(),
  /** The key of the detached signatures, for kinds whose manifest cannot name it. */
  'keyId?': Label,
  files: list(ListedFile, ARCHIVE_LIMITS.entriesMax),
});

export const digestOf = (bytes: Uint8Array): FileDigest => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

const digestsOf = (files: Files): FileDigests =>
  new Map([...files].map(([path, bytes]) => [path, digestOf(bytes)]));

export interface ListedPack {
  readonly name: string;
  readonly version: string;
  readonly keyId?: string;
}

/** The same files with their list, without a signature of an earlier list. */
export function withFileList(files: Files, pack: ListedPack): Map<string, Uint8Array> {
  const others = new Map([...files].filter(([path]) => !FILE_LIST_FILES.includes(path)));
  const listed = [...digestsOf(others)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, digest]) => ({ path, ...digest }));
  const { name, version, keyId } = pack;
  // An undefined key is omitted from JSON.
  const list = { name, version, keyId, files: listed };
  return others.set(FILE_LIST, Buffer.from(JSON.stringify(list)));
}

function readList(files: Files) {
  const bytes = files.get(FILE_LIST);
  const list = bytes === undefined || bytes.length > BYTES_MAX ? undefined : jsonOf(bytes);
  return Check(FileList, list) ? list : undefined;
}

/** Whether a pack has a file of that name that is not a valid list. */
export const hasOtherFileList = (files: Files): boolean =>
  files.has(FILE_LIST) && readList(files) === undefined;

/** The signing of a pack whose manifest has no `signing`: by the key that its list names. */
export function detachedSigning(files: Files): Signing | undefined {
  const keyId = files.has(FILE_LIST_SIGNATURE) ? readList(files)?.keyId : undefined;
  if (keyId === undefined) return;
  return { method: 'manual', publicKeyRef: keyId, signatureRef: MANIFEST_SIGNATURE };
}

/** The problem of a pack's list, as the rest of a sentence that starts with the list. */
export function fileListProblem({
  name,
  version,
  files,
  digests = digestsOf(files),
}: ListedPack & { files: Files; digests?: FileDigests | undefined }): string | undefined {
  const list = readList(files);
  if (list === undefined) return 'is missing or cannot be read';
  if (list.name !== name || list.version !== version) return `is of ${list.name}@${list.version}`;
  const listed = new Map(list.files.map(({ path, ...digest }) => [path, digest]));
  if (listed.size !== list.files.length) return 'names a file twice';
  const other = [...digests].find(([path, { size, sha256 }]) => {
    const found = listed.get(path);
    return !FILE_LIST_FILES.includes(path) && (found?.size !== size || found.sha256 !== sha256);
  });
  if (other) return `${listed.has(other[0]) ? 'has another content for' : 'does not name'} ${other[0]}`;
  const missing = [...listed.keys()].find((path) => !digests.has(path));
  return missing === undefined ? undefined : `names ${missing}, which is not in the archive`;
}
