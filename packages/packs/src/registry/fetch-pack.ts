import { OpenwopError } from '@gantry/protocol';
import { type Archive, readArchive } from '../archive/read-archive.ts';
import type { PackManifest } from '../manifest/kinds.ts';
import { readManifest } from '../manifest/read-manifest.ts';
import type { SecurityAdvisory } from '../trust/advisory.ts';
import { judgeTrust, type TrustJudgement, type TrustQuestion } from '../trust/judge-trust.ts';
import { integrityOf, signerOf, type TrustedKey } from '../trust/keys.ts';
import { signedPack } from '../trust/signature.ts';
import type { Registry, VersionManifest } from './registry.ts';

/** A version from its registry: its bytes are the published ones and its manifest is valid. */
export interface FetchedPack {
  readonly name: string;
  readonly version: string;
  readonly registry: string;
  readonly bytes: Uint8Array;
  readonly archive: Archive;
  readonly manifest: PackManifest;
  readonly served: VersionManifest;
  readonly detachedSignature: Uint8Array | undefined;
  /** Keys that this registry vouches for. Keys of other registries do not apply to the pack. */
  readonly keys: readonly TrustedKey[];
  readonly advisories: readonly SecurityAdvisory[];
}

interface FetchOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly version: string;
  /** The integrity in a lockfile; by default that of the registry. */
  readonly lockedIntegrity?: string | undefined;
}

/** Fetches a version. The archive is not unpacked before its integrity is verified. */
export async function fetchPack(options: FetchOptions): Promise<FetchedPack> {
  const { registry, name, version, lockedIntegrity } = options;
  const served = await registry.manifest(name, version);
  if (served === undefined) throw gone(registry, name, version);
  const [bytes, detachedSignature, keys, advisories] = await Promise.all([
    registry.archive(name, version),
    registry.signature(name, version),
    registry.keys(name, signerOf(served.signing)),
    registry.advisories(),
  ]);
  if (bytes === undefined) throw gone(registry, name, version);
  checkIntegrity(`${name}@${version}`, bytes, served.record.integrity, lockedIntegrity);
  const archive = await readArchive(bytes);
  const manifest = soundManifest(name, version, archive);
  const proof = { detachedSignature, keys, advisories };
  return { name, version, registry: registry.url, bytes, archive, manifest, served, ...proof };
}

/** Checks whether a fetched pack may be installed, with the keys of its own registry. */
export function judgeFetched(
  { served, keys, advisories, ...fetched }: FetchedPack,
  host: Pick<TrustQuestion, 'policy' | 'pins' | 'installed' | 'isExact'> &
    Omit<TrustQuestion['trust'], 'keys'>,
): Promise<TrustJudgement> {
  const { now, sigstore, ...question } = host;
  const pack = signedPack({ ...fetched, signing: served.signing });
  const trust = { now, sigstore, keys };
  return judgeTrust({ ...question, pack, record: served.record, trust, advisories });
}

function checkIntegrity(
  pack: string,
  bytes: Uint8Array,
  published: string,
  locked: string | undefined,
): void {
  const integrity = integrityOf(bytes);
  const expected = locked ?? published;
  if (integrity === expected) return;
  const details = { pack, integrity, expected };
  if (locked !== undefined)
    throw new OpenwopError('pack_integrity_mismatch', {
      message: `The archive of ${pack} is ${integrity}, the lockfile says ${locked}. Fetch it again, or create the lockfile again after checking the difference.`,
      details,
    });
  throw new OpenwopError('pack_integrity_failure', {
    message: `The archive of ${pack} is ${integrity}, published was ${published}. Fetch it again; if the difference remains, do not use it and report it to the registry.`,
    details,
  });
}

function soundManifest(name: string, version: string, { manifestBytes }: Archive): PackManifest {
  const reading = readManifest(manifestBytes);
  if (reading.kind === 'refused')
    throw new OpenwopError('pack_manifest_invalid', {
      message: `The pack.json of ${name}@${version} is not valid: ${reading.issues[0]?.message ?? ''} Use another version, and report it to the publisher.`,
      details: {
        packName: name,
        version,
        issues: reading.issues.slice(0, 20).map((issue) => ({ ...issue })),
      },
    });
  const { manifest } = reading;
  if (manifest.name === name && manifest.version === version) return manifest;
  throw new OpenwopError('pack_manifest_invalid', {
    message: `The archive of ${name}@${version} holds ${manifest.name}@${manifest.version}. Do not use it, and report it to the registry.`,
    details: { packName: name, version },
  });
}

const gone = ({ url }: Registry, name: string, version: string): OpenwopError =>
  new OpenwopError('pack_version_not_found', {
    message: `${url} does not serve ${name}@${version} any more. Choose another version, or create the lockfile again.`,
    details: { packName: name, version, registry: url, available: [] },
  });
