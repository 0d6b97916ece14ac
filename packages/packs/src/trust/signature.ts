import { normalizePath } from '../archive/path.ts';
import type { Archive } from '../archive/read-archive.ts';
import { jsonOf } from '../json.ts';
import type { Signing } from '../manifest/fields.ts';
import type { PackManifest } from '../manifest/kinds.ts';
import {
  detachedSigning,
  FILE_LIST,
  FILE_LIST_BUNDLE,
  FILE_LIST_SIGNATURE,
  type FileDigests,
  fileListProblem,
  type SignatureCovers,
} from './file-list.ts';
import {
  integrityOf,
  isValidAt,
  permits,
  readPublicKey,
  signerOf,
  type TrustedKey,
  verifyEd25519,
} from './keys.ts';
import type { SigstoreTrust } from './trust-file.ts';

/** The trust levels of a version, in ascending order. */
export const TRUST_LEVELS = ['unsigned', 'signed', 'sigstore'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

export interface SignedPack {
  readonly name: string;
  readonly version: string;
  readonly signing: Signing | undefined;
  readonly archive: Uint8Array;
  /** The raw pack.json entry of the archive. */
  readonly manifestBytes: Uint8Array;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Digests of every file of the archive, if `files` does not contain all of them. */
  readonly digests?: FileDigests | undefined;
  /** The registry's `.sig`, which has precedence over a file in the archive. */
  readonly detachedSignature?: Uint8Array | undefined;
  readonly publishedAt?: string | undefined;
}

/** A pack whose archive was read completely. `signing` comes from the registry if the manifest has none. */
export const signedPack = (read: {
  readonly bytes: Uint8Array;
  readonly archive: Archive;
  readonly manifest: PackManifest;
  readonly signing?: Signing | undefined;
  readonly detachedSignature?: Uint8Array | undefined;
}): SignedPack => ({
  name: read.manifest.name,
  version: read.manifest.version,
  signing: read.manifest.signing ?? read.signing,
  archive: read.bytes,
  manifestBytes: read.archive.manifestBytes,
  files: read.archive.files,
  detachedSignature: read.detachedSignature,
});

export interface Trust {
  readonly keys: readonly TrustedKey[];
  readonly sigstore?: SigstoreTrust | undefined;
  readonly now: number;
}

export type SignatureJudgement =
  | { readonly state: 'unsigned' }
  /** `unverifiable`: signed by an unknown key. */
  | { readonly state: 'unverifiable' | 'invalid' | 'unauthorized'; readonly message: string }
  | {
      readonly state: 'verified';
      readonly level: Exclude<TrustLevel, 'unsigned'>;
      readonly signedBy: string;
      /** The key itself or the identity: two keys with one name are two signers. */
      readonly signer: string;
      /** With `manifest`, code and schemas are covered only by the integrity. */
      readonly covers: SignatureCovers;
    };

const SIGSTORE_BUNDLE = 'pack.json.sigstore';
const MANUAL_SIGNATURE = 'pack.json.sig';
const BUNDLE_BYTES_MAX = 256 * 1024;

/** Checks the signature that the manifest, or the registry for it, declares. */
export async function judgeSignature(pack: SignedPack, trust: Trust): Promise<SignatureJudgement> {
  const signing = pack.signing ?? detachedSigning(pack.files);
  if (signing === undefined) return { state: 'unsigned' };
  return signing.method === 'sigstore' ? judgeBundle(pack, trust) : judgeKeySignature(pack, signing, trust);
}

const failed = (state: 'unverifiable' | 'invalid' | 'unauthorized', message: string): SignatureJudgement => ({
  state,
  message,
});

function judgeKeySignature(pack: SignedPack, signing: Signing, trust: Trust): SignatureJudgement {
  const keyId = signerOf(signing);
  if (keyId === undefined) return failed('unverifiable', 'The manifest does not say which key signed.');
  const signature = pack.detachedSignature ?? fileAt(pack, signing.signatureRef ?? MANUAL_SIGNATURE);
  if (signature === undefined) return failed('unverifiable', 'The signature itself is missing.');
  const named = trust.keys.filter((key) => key.keyId === keyId);
  const key = named.find((candidate) => isValidAt(candidate, publishedAt(pack, trust)));
  if (named.length === 0) return failed('unverifiable', `The key ${keyId} is not known here.`);
  if (key === undefined) return failed('unverifiable', `The key ${keyId} was not valid then.`);
  if (key.status === 'revoked') return failed('invalid', `The key ${keyId} is revoked.`);
  return verifyWith(key, pack, signing, signature);
}

/** Two dialects are in use: `manual` signs the raw pack.json entry, `ed25519` the whole archive. */
function verifyWith(
  key: TrustedKey,
  pack: SignedPack,
  signing: Signing,
  signature: Uint8Array,
): SignatureJudgement {
  const { keyId } = key;
  const publicKey = readPublicKey(key.publicKey);
  if (publicKey === undefined) return failed('unverifiable', `The key ${keyId} is not an Ed25519 key.`);
  const isWhole = signing.method === 'ed25519';
  if (!verifyEd25519(publicKey, isWhole ? pack.archive : pack.manifestBytes, signature))
    return failed('invalid', `The signature does not verify with the key ${keyId}.`);
  if (!permits(key.permittedNamespaces, pack.name))
    return failed('unauthorized', `The key ${keyId} may not sign for ${pack.name}.`);
  const signer = `key:${integrityOf(publicKey.export({ type: 'spki', format: 'der' }))}`;
  const proof = { state: 'verified', level: 'signed', signedBy: keyId, signer } as const;
  if (isWhole) return { ...proof, covers: 'archive' };
  return withFiles(pack, proof, FILE_LIST_SIGNATURE, (list, listSignature) =>
    verifyEd25519(publicKey, list, listSignature) ? undefined : `does not verify with the key ${keyId}`,
  );
}

type Proof = Omit<Extract<SignatureJudgement, { state: 'verified' }>, 'covers'>;

/** A second signature, over the list of files, is optional; if present, it must be valid. */
function withFiles(
  pack: SignedPack,
  proof: Proof,
  file: string,
  problemOf: (list: Uint8Array, signature: Uint8Array) => string | undefined,
): SignatureJudgement {
  const signature = pack.files.get(file);
  if (signature === undefined) return { ...proof, covers: 'manifest' };
  const wrong = problemOf(pack.files.get(FILE_LIST) ?? new Uint8Array(), signature);
  if (wrong !== undefined) return failed('invalid', `The signature ${file} ${wrong}.`);
  const problem = fileListProblem(pack);
  if (problem !== undefined) return failed('invalid', `The signed ${FILE_LIST} ${problem}.`);
  return { ...proof, covers: 'files' };
}

async function judgeBundle(pack: SignedPack, trust: Trust): Promise<SignatureJudgement> {
  if (trust.sigstore === undefined)
    return failed('unverifiable', 'This host has no Sigstore root and identities configured.');
  const bytes = fileAt(pack, pack.signing?.signatureRef ?? SIGSTORE_BUNDLE);
  if (bytes === undefined) return failed('unverifiable', 'The Sigstore bundle is missing.');
  // Loaded on first use: it costs 185 ms and 30 MB, and most packs are signed with keys.
  const { verifySigstore } = await import('./sigstore.ts');
  const { sigstore } = trust;
  const judgement = verifySigstore(bundleOf(bytes), pack.manifestBytes, sigstore);
  if (!judgement.verified)
    return failed(judgement.reason === 'untrusted' ? 'unauthorized' : 'invalid', judgement.message);
  const { issuer, subject, permittedNamespaces } = judgement.signer;
  if (!permits(permittedNamespaces, pack.name))
    return failed('unauthorized', `${subject} may not sign for ${pack.name}.`);
  const signer = `sigstore:${issuer} ${subject}`;
  const proof = { state: 'verified', level: 'sigstore', signedBy: subject, signer } as const;
  return withFiles(pack, proof, FILE_LIST_BUNDLE, (list, bundle) => {
    const second = verifySigstore(bundleOf(bundle), list, sigstore);
    if (!second.verified) return 'does not verify';
    return second.signer === judgement.signer ? undefined : 'is by another signer';
  });
}

const publishedAt = (pack: SignedPack, trust: Trust): number => {
  const at = pack.publishedAt === undefined ? Number.NaN : Date.parse(pack.publishedAt);
  return Number.isNaN(at) ? trust.now : at;
};

const fileAt = (pack: SignedPack, ref: string): Uint8Array | undefined => pack.files.get(normalizePath(ref));

const bundleOf = (bytes: Uint8Array): unknown =>
  bytes.length > BUNDLE_BYTES_MAX ? undefined : jsonOf(bytes);
