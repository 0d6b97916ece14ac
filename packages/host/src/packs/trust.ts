/** The trust of this host in packs. One policy applies to uploads; each registry may have its own. */
import {
  type Archive,
  type FetchedPack,
  judgeTrust,
  type PackManifest,
  type PackPin,
  type RegistryRecord,
  type Signing,
  type SigstoreTrust,
  sameRegistry,
  signedPack,
  type TrustedKey,
  type TrustFile,
  type TrustJudgement,
  type TrustPolicy,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { StoredPack } from './pack-records.ts';

/** Its policy defaults to that of the file; its keys, if given, are the only ones that vouch for its packs. */
type RegistryTrust = NonNullable<TrustFile['registries']>[number];

export interface HostTrust {
  /** For uploaded archives. */
  readonly policy: TrustPolicy;
  /** For registries without a policy of their own. */
  readonly registryPolicy: TrustPolicy;
  readonly keys: readonly TrustedKey[];
  readonly registries: readonly RegistryTrust[];
  readonly sigstore?: SigstoreTrust | undefined;
  /** The coverage that a signature must have in mode `verified`. */
  readonly demands: 'manifest' | 'files';
  /** Grants of packs of the settings, by name. */
  readonly grants: Readonly<Record<string, readonly string[]>>;
}

/** The uploader knows an uploaded archive; an archive from a registry must be proved. */
export const WITHOUT_FILE: HostTrust = {
  policy: { mode: 'open' },
  registryPolicy: { mode: 'verified' },
  keys: [],
  registries: [],
  demands: 'manifest',
  grants: {},
};

/** The statements of a registry about a version that came from it. */
export interface RegistryProof
  extends Pick<FetchedPack, 'keys' | 'advisories'>,
    Partial<Pick<FetchedPack, 'detachedSignature'>> {
  readonly url: string;
  readonly record: RegistryRecord;
  /** Its statement about the signature, if the manifest in the archive has none. */
  readonly signing?: Signing | undefined;
  /** Exactly this version was requested. */
  readonly isExact: boolean;
  /** A lockfile names these bytes. */
  readonly isLocked: boolean;
  /** The caller vouches for it, as for an upload: the policy for uploads applies. */
  readonly asUpload: boolean;
}

export type Origin =
  /** A folder of the operator, in development: neither signed nor listed. */
  | { readonly from: 'folder' }
  | { readonly from: 'upload' }
  | { readonly from: 'registry'; readonly proof: RegistryProof };

export interface ProofQuestion {
  readonly trust: HostTrust;
  readonly origin: Origin;
  readonly bytes: Uint8Array;
  readonly archive: Archive;
  readonly manifest: PackManifest;
  /** The version that it would replace. */
  readonly current: StoredPack | undefined;
  readonly allowsOlder: boolean;
  /** Pins of workflows; read only if needed. */
  readonly pins: () => Promise<readonly PackPin[]>;
  readonly now: number;
}

export type Trusted = Extract<TrustJudgement, { trusted: true }>;

/** The proof of an archive under the policy for its origin. Throws the reason if there is no valid proof. */
export async function judgeProof(question: ProofQuestion): Promise<Trusted> {
  const { trust, origin, archive, manifest, now } = question;
  const { name, version } = manifest;
  const proof = origin.from === 'registry' ? origin.proof : undefined;
  const policy = policyFor(trust, origin);
  const locked = proof?.isLocked ? [{ name, version, integrity: archive.integrity }] : [];
  const needsPins = policy.mode === 'pinned' || trust.demands === 'files';
  const current = origin.from === 'folder' ? undefined : question.current?.record;
  const judgement = await judgeTrust({
    pack: signedPack({ ...question, signing: proof?.signing, detachedSignature: proof?.detachedSignature }),
    policy,
    pins: [...locked, ...(needsPins ? await question.pins() : [])],
    demands: trust.demands,
    allowsOlder: question.allowsOlder || (proof?.isExact ?? false),
    isOwnFolder: origin.from === 'folder',
    trust: { keys: keysFor(trust, origin), now, sigstore: trust.sigstore },
    advisories: proof?.advisories ?? [],
    isExact: proof?.isExact ?? true,
    record: proof?.record,
    installed: current && { ...current, level: current.trust },
  });
  if (judgement.trusted) return judgement;
  throw new OpenwopError(judgement.code, {
    message: `${judgement.message} ${judgement.next}`,
    details: { manifest: `${name}@${version}` },
  });
}

function policyFor(trust: HostTrust, origin: Origin): TrustPolicy {
  switch (origin.from) {
    case 'folder':
      return { mode: 'open' };
    case 'upload':
      return trust.policy;
    case 'registry':
      return origin.proof.asUpload ? trust.policy : registryPolicy(trust, origin.proof.url);
  }
}

const registryPolicy = (trust: HostTrust, url: string): TrustPolicy =>
  ofRegistry(trust, url)?.policy ?? trust.registryPolicy;

/**
 * Keys of the operator take precedence over those of a registry: keys are looked up in this order. A pack that has to
 * be proved as an upload is proved only by the operator's keys.
 */
function keysFor({ keys, policy }: HostTrust, origin: Origin): readonly TrustedKey[] {
  if (origin.from !== 'registry' || (origin.proof.asUpload && policy.mode !== 'open')) return keys;
  return [...keys, ...origin.proof.keys];
}

/** The effective modes, for operators. */
export interface TrustModes {
  readonly uploads: TrustPolicy['mode'];
  readonly registries: readonly { readonly url: string; readonly mode: TrustPolicy['mode'] }[];
}

export const trustModes = (trust: HostTrust, registries: readonly string[]): TrustModes => ({
  uploads: trust.policy.mode,
  registries: registries.map((url) => ({ url, mode: registryPolicy(trust, url).mode })),
});

export const ofRegistry = ({ registries }: HostTrust, url: string): RegistryTrust | undefined =>
  registries.find((registry) => sameRegistry(registry.url, url));
