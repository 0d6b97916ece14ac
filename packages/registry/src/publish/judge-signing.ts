/** Who signed what is published, judged with the keys that its namespace has here and now. */
import { buffer } from 'node:stream/consumers';
import {
  type ArchiveLimits,
  judgeSignature,
  keyIdOf,
  normalizePath,
  type PackManifest,
  type Signing,
  type TrustedKey,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { fileIn } from '../catalogue/archive-file.ts';
import type { PublishedVersion, SigningMethod } from '../catalogue/catalogue.ts';
import type { SpooledArchive } from '../storage/storage.ts';

export interface SigningQuestion {
  readonly manifest: PackManifest;
  readonly manifestBytes: Buffer;
  readonly archive: Pick<SpooledArchive, 'read'>;
  /** `X-Pack-Signing-Method`, if it was sent. */
  readonly claimedMethod: string | undefined;
  /** `X-Pack-Signature`: no archive can hold the signature over itself. */
  readonly detached: Buffer | undefined;
  readonly keys: readonly TrustedKey[];
  readonly acceptsUnsigned: boolean;
  readonly limits: ArchiveLimits;
  readonly now: number;
}

export type JudgedSigning = Pick<PublishedVersion, 'signing' | 'signature'>;

const SIGNATURE_BYTES_MAX = 256 * 1024;
const SIGNATURE_FILES = { sigstore: 'pack.json.sigstore', other: 'pack.json.sig' } as const;

const invalid = (message: string): OpenwopError =>
  new OpenwopError('signature_invalid', {
    message: `${message} Sign with a key of the namespace's keychain, as pack.json declares it.`,
  });

const methodOf = (signing: Signing | undefined): SigningMethod =>
  signing === undefined ? 'none' : (signing.method ?? 'manual');

export async function judgeSigning(question: SigningQuestion): Promise<JudgedSigning> {
  const { signing } = question.manifest;
  const method = methodOf(signing);
  refuseOtherMethod(question.claimedMethod, method);
  if (signing === undefined) {
    refuseUnsigned(question);
    return { signing: { method, state: 'unsigned' } };
  }
  const signature = question.detached ?? (await signatureIn(question, signing));
  const state = await stateOf(question, signing, signature);
  const ref = signing.keyId ?? signing.publicKeyRef;
  return {
    signing: { method, state, ...(ref !== undefined && { keyId: keyIdOf(ref) }) },
    ...(signature !== undefined && { signature: signature.toString('base64') }),
  };
}

/** The header knows no `ed25519`: both are signatures made with a key by hand. */
function refuseOtherMethod(claimed: string | undefined, method: SigningMethod): void {
  if (claimed === undefined || claimed === method) return;
  if (claimed === 'manual' && method === 'ed25519') return;
  throw invalid(`X-Pack-Signing-Method is ${claimed.slice(0, 32)}, pack.json says ${method}.`);
}

/** A namespace that has a key gets nothing unsigned: a stolen API key alone must not be enough. */
function refuseUnsigned({ acceptsUnsigned, keys }: SigningQuestion): void {
  if (!acceptsUnsigned || keys.length > 0) throw new OpenwopError('signature_required');
}

async function signatureIn(
  { archive, limits }: SigningQuestion,
  { method, signatureRef }: Signing,
): Promise<Buffer | undefined> {
  const path = signatureRef ?? (method === 'sigstore' ? SIGNATURE_FILES.sigstore : SIGNATURE_FILES.other);
  const bytes = await fileIn(archive.read(), limits, normalizePath(path));
  if (bytes !== undefined && bytes.length > SIGNATURE_BYTES_MAX)
    throw invalid(`${path} is larger than any signature.`);
  return bytes;
}

async function stateOf(
  question: SigningQuestion,
  signing: Signing,
  signature: Buffer | undefined,
): Promise<'verified' | 'unverifiable'> {
  const { manifest, manifestBytes, archive, keys, now } = question;
  const bundle = signing.signatureRef ?? SIGNATURE_FILES.sigstore;
  const judgement = await judgeSignature(
    {
      name: manifest.name,
      signing,
      manifestBytes,
      // Ed25519 takes its message whole; only this dialect signs the archive, and archives are bounded.
      archive: signing.method === 'ed25519' ? await buffer(archive.read()) : new Uint8Array(),
      files: new Map(signature === undefined ? [] : [[normalizePath(bundle), signature]]),
      ...(signature !== undefined && { detachedSignature: signature }),
    },
    { keys, now },
  );
  switch (judgement.state) {
    case 'verified':
      return 'verified';
    case 'unauthorized':
      throw new OpenwopError('forbidden', { message: judgement.message });
    case 'unverifiable':
      if (question.acceptsUnsigned && keys.length === 0) return 'unverifiable';
      throw invalid(judgement.message);
    default:
      throw invalid(judgement.state === 'invalid' ? judgement.message : 'The pack is not signed.');
  }
}
