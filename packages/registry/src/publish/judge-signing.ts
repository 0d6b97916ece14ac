/** Checks the signature of an archive to be published, with the current keys of its namespace. */
import { buffer } from 'node:stream/consumers';
import {
  type ArchiveLimits,
  detachedSigning,
  judgeSignature,
  keyIdOf,
  normalizePath,
  type PackManifest,
  type SignatureCovers,
  type Signing,
  type SigstoreTrust,
  type TrustedKey,
} from '@gantry/packs';
import { given, OpenwopError } from '@gantry/protocol';
import type { PublishedVersion, SigningMethod } from '../catalogue/catalogue.ts';
import { fileIn } from '../publish/inspect-archive.ts';
import type { SpooledArchive } from '../storage/storage.ts';
import type { Inspection } from './inspect-archive.ts';

interface SigningQuestion {
  readonly manifest: PackManifest;
  readonly inspection: Inspection;
  readonly archive: Pick<SpooledArchive, 'read'>;
  /** `X-Pack-Signing-Method`, if it was sent. */
  readonly claimedMethod: string | undefined;
  /** `X-Pack-Signature`, for signatures over the whole archive. */
  readonly detached: Buffer | undefined;
  readonly keys: readonly TrustedKey[];
  /** If absent, no bundle is verified. */
  readonly sigstore: SigstoreTrust | undefined;
  readonly acceptsUnsigned: boolean;
  readonly limits: ArchiveLimits;
  readonly now: number;
}

type JudgedSigning = Pick<PublishedVersion, 'signing' | 'signature'>;

const SIGNATURE_BYTES_MAX = 256 * 1024;
const SIGNATURE_FILES = { sigstore: 'pack.json.sigstore', other: 'pack.json.sig' } as const;

const invalid = (message: string): OpenwopError =>
  new OpenwopError('signature_invalid', {
    message: `${message} Sign with a key of the namespace, as declared in pack.json.`,
  });

const methodOf = (signing: Signing | undefined): SigningMethod =>
  signing === undefined ? 'none' : (signing.method ?? 'manual');

export async function judgeSigning(question: SigningQuestion): Promise<JudgedSigning> {
  const signing = question.manifest.signing ?? detachedSigning(question.inspection.listing);
  const method = methodOf(signing);
  refuseOtherMethod(question.claimedMethod, method);
  if (signing === undefined) {
    refuseUnsigned(question);
    return { signing: { method, state: 'unsigned' } };
  }
  const signature = question.detached ?? (await signatureIn(question, signing));
  const judged = await stateOf(question, signing, signature);
  const ref = signing.keyId ?? signing.publicKeyRef;
  const keyId = ref === undefined ? undefined : keyIdOf(ref);
  return {
    signing: { method, ...given({ keyId }), ...judged },
    ...given({ signature: signature?.toString('base64') }),
  };
}

/** The header has no value for `ed25519`; clients send `manual` for both. */
function refuseOtherMethod(claimed: string | undefined, method: SigningMethod): void {
  if (claimed === undefined || claimed === method) return;
  if (claimed === 'manual' && method === 'ed25519') return;
  throw invalid(`X-Pack-Signing-Method is ${claimed.slice(0, 32)}, pack.json says ${method}.`);
}

/** A namespace with a key accepts nothing unsigned, so that a stolen API key alone is not enough. */
function refuseUnsigned({ acceptsUnsigned, keys, manifest }: SigningQuestion): void {
  if (!acceptsUnsigned || keys.length > 0 || manifest.name.startsWith('core.'))
    throw new OpenwopError('signature_required');
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

type Judged =
  | { readonly state: 'verified'; readonly covers: SignatureCovers; readonly signedBy: string }
  | { readonly state: 'unverifiable' };

async function stateOf(
  question: SigningQuestion,
  signing: Signing,
  signature: Buffer | undefined,
): Promise<Judged> {
  const { manifest, inspection, archive, keys, sigstore, now } = question;
  const { name, version } = manifest;
  const { manifestBytes, digests, listing } = inspection;
  const bundle = signing.signatureRef ?? SIGNATURE_FILES.sigstore;
  const signatures = signature === undefined ? [] : [[normalizePath(bundle), signature] as const];
  const judgement = await judgeSignature(
    {
      name,
      version,
      signing,
      manifestBytes,
      digests,
      // Ed25519 needs the whole message in memory. Only this method signs the archive, and archives are bounded.
      archive: signing.method === 'ed25519' ? await buffer(archive.read()) : new Uint8Array(),
      files: new Map([...listing, ...signatures]),
      detachedSignature: signature,
    },
    { keys, now, sigstore },
  );
  switch (judgement.state) {
    case 'verified': {
      const { state, covers, signedBy } = judgement;
      return { state, covers, signedBy };
    }
    case 'unauthorized':
      throw new OpenwopError('forbidden', { message: judgement.message });
    case 'unverifiable':
      if (question.acceptsUnsigned && keys.length === 0 && !name.startsWith('core.'))
        return { state: 'unverifiable' };
      throw invalid(judgement.message);
    default:
      throw invalid(judgement.state === 'invalid' ? judgement.message : 'The pack is not signed.');
  }
}
