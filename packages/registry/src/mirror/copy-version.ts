/**
 * One version from another registry to this one.
 *
 * I1  Nothing is kept before its integrity and its signature are proved, with the keys of the registry it comes from.
 * I2  All versions of a pack come from one place: no mirror adds to what is published or claimed here, nor to what
 *     another mirror brought.
 * I3  The archive is kept before the commit that names it; whoever dies in between leaves what the sweep removes.
 */
import {
  type ArchiveLimits,
  type CopyableRegistry,
  detachedSigning,
  type FetchedPack,
  fetchPack,
  type IndexedVersion,
  judgeFetched,
  keyIdOf,
  normalizePath,
  type SecurityAdvisory,
  type SigstoreTrust,
  type TrustJudgement,
} from '@gantry/packs';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { PublishedVersion } from '../catalogue/catalogue.ts';
import type { StoreCatalogue, VersionDecision } from '../catalogue/store-catalogue.ts';
import type { VersionState } from '../catalogue/version-entry.ts';
import type { Claims } from '../keychain/claims.ts';
import { checkAddress } from '../publish/address.ts';
import type { ArchiveStorage } from '../storage/storage.ts';
import { isTime, mirrorOf, type Standing, standingOf, withStanding } from './standing.ts';

export interface CopyDeps {
  readonly catalogue: StoreCatalogue;
  readonly storage: ArchiveStorage;
  readonly claims: Claims;
  readonly limits: ArchiveLimits;
  /** First words of names that are taken here. */
  readonly scopes: readonly string[];
  readonly acceptsUnsigned: boolean;
  readonly sigstore: SigstoreTrust | undefined;
  readonly now: () => number;
}

export interface CopyTask {
  readonly registry: CopyableRegistry;
  /** What the other registry is called here. */
  readonly source: string;
  readonly name: string;
  readonly indexed: IndexedVersion;
  /** The index of the pack as it is served; asked for only where it matters. */
  readonly metadata: () => Promise<unknown>;
  readonly advisories: readonly SecurityAdvisory[];
  readonly refusedKeys: ReadonlySet<string>;
}

export type Copied =
  | { readonly kind: 'copied'; readonly bytes: number }
  | { readonly kind: 'there' }
  /** It was there; what is said of it has changed. */
  | { readonly kind: 'updated' }
  | { readonly kind: 'left-out'; readonly reason: string };

const SIGNATURE_FILES = { sigstore: 'pack.json.sigstore', other: 'pack.json.sig' } as const;

/** Throws an `OpenwopError` for what is refused. */
export async function copyVersion(deps: CopyDeps, task: CopyTask): Promise<Copied> {
  const { catalogue, storage } = deps;
  const { name, indexed, source } = task;
  checkAddress({ name, version: indexed.version }, deps.scopes);
  const versions = await catalogue.versions(name);
  const known = versions.find(({ version }) => version === indexed.version);
  const integrity = indexed.integrity ?? (await integrityOf(task));
  if (known?.integrity === integrity && (await storage.has(integrity))) return update(deps, task, known);
  refuseOtherOrigin(deps, task, versions);
  const standing = await readStanding(task);
  const fetched = await fetchPack({ registry: task.registry, name, version: indexed.version });
  const judgement = await judge(deps, task, fetched);
  if (judgement.kind === 'left-out') return judgement;
  const published = publishedOf(fetched, judgement.trust, {
    source,
    publishedAt: publishedAt(task, fetched, deps.now()),
  });
  const standingNow = withStanding(published, standing, { source, now: deps.now() })?.published ?? published;
  return keep(deps, standingNow, fetched.bytes);
}

async function integrityOf({ registry, name, indexed }: CopyTask): Promise<string> {
  const manifest = await registry.manifest(name, indexed.version);
  if (manifest !== undefined) return manifest.record.integrity;
  throw new OpenwopError('pack_version_not_found', {
    message: `The registry lists ${name}@${indexed.version} and does not serve it.`,
  });
}

/** I2. */
function refuseOtherOrigin(
  { claims }: CopyDeps,
  { name, source }: CopyTask,
  versions: readonly PublishedVersion[],
): void {
  const claim = claims.claimOf(name);
  const other = versions.find(({ provenance }) => provenance.mirroredFrom !== source);
  if (claim === undefined && other === undefined) return;
  const why =
    claim !== undefined
      ? `${claim.namespace} is claimed here by ${claim.owner}`
      : `other versions of it were ${other?.provenance.mirroredFrom === undefined ? 'published here' : `copied from ${other.provenance.mirroredFrom}`}`;
  throw new OpenwopError('conflict', {
    message: `${why}, and a pack comes from one place. Leave it out with --only, or, if this is the same registry at another address, name it with --as.`,
  });
}

const isPlain = ({ yanked, deprecated }: IndexedVersion): boolean =>
  yanked === undefined && deprecated === undefined;

/** Only what is marked in the index costs two more documents. */
async function readStanding({ registry, name, indexed, metadata, advisories }: CopyTask): Promise<Standing> {
  const { version } = indexed;
  const [manifest, index] = isPlain(indexed)
    ? []
    : await Promise.all([registry.document({ of: 'versionManifest', name, version }), metadata()]);
  return standingOf(name, { indexed, manifest, metadata: index }, advisories);
}

async function update(deps: CopyDeps, task: CopyTask, known: PublishedVersion): Promise<Copied> {
  const { source, name, indexed } = task;
  if (known.provenance.mirroredFrom !== source) return { kind: 'there' };
  const standing = await readStanding(task);
  const decide = (state: VersionState | undefined): VersionDecision<Copied> => {
    const change =
      state?.state === 'published'
        ? withStanding(state.published, standing, { source, now: deps.now() })
        : undefined;
    if (change === undefined) return { kind: 'keep', result: { kind: 'there' } };
    return {
      kind: 'write',
      type: change.type,
      result: { kind: 'updated' },
      state: { state: 'published', published: change.published },
    };
  };
  const isSettled = withStanding(known, standing, { source, now: deps.now() }) === undefined;
  if (isSettled) return { kind: 'there' };
  return deps.catalogue.change({ name, version: indexed.version }, mirrorOf(source), decide);
}

type Judged = { readonly kind: 'trusted'; readonly trust: TrustJudgement & { trusted: true } } | Copied;

/** I1. */
async function judge(
  { acceptsUnsigned, sigstore, now }: CopyDeps,
  { indexed, refusedKeys }: CopyTask,
  fetched: FetchedPack,
): Promise<Extract<Judged, { kind: 'trusted' | 'left-out' }>> {
  const keyId = keyOf(fetched);
  if (keyId !== undefined && refusedKeys.has(keyId))
    throw new OpenwopError('pack_signature_unverifiable', {
      message: `Its key ${keyId} is not served here, since a key of that name is known with other bytes.`,
    });
  const trust = await judgeFetched(fetched, {
    policy: { mode: acceptsUnsigned ? 'open' : 'verified' },
    isExact: true,
    now: now(),
    ...(sigstore && { sigstore }),
  });
  if (trust.trusted) return { kind: 'trusted', trust };
  if (indexed.yanked !== undefined && signatureOf(fetched) === undefined)
    return { kind: 'left-out', reason: 'It is yanked, and its signature is not given out any more.' };
  throw new OpenwopError(trust.code, { message: trust.message });
}

const declaredSigning = ({ manifest, served }: FetchedPack) => manifest.signing ?? served.signing;
const signingOf = (fetched: FetchedPack) =>
  declaredSigning(fetched) ?? detachedSigning(fetched.archive.files);

function keyOf(fetched: FetchedPack): string | undefined {
  const signing = signingOf(fetched);
  const ref = signing?.keyId ?? signing?.publicKeyRef;
  return ref === undefined ? undefined : keyIdOf(ref);
}

function signatureOf(fetched: FetchedPack): Uint8Array | undefined {
  const signing = signingOf(fetched);
  const usual = signing?.method === 'sigstore' ? SIGNATURE_FILES.sigstore : SIGNATURE_FILES.other;
  return (
    fetched.detachedSignature ??
    (signing && fetched.archive.files.get(normalizePath(signing.signatureRef ?? usual)))
  );
}

/** Some registries tell it beside the manifest, some in the index alone. */
function publishedAt({ indexed }: CopyTask, { served }: FetchedPack, now: number): string {
  const told = [served.record.publishedAt, indexed.publishedAt];
  return told.find(isTime) ?? new Date(now).toISOString();
}

function publishedOf(
  fetched: FetchedPack,
  { level, covers, signedBy }: TrustJudgement & { trusted: true },
  { source, publishedAt: at }: { readonly source: string; readonly publishedAt: string },
): PublishedVersion {
  const { manifest, archive, bytes } = fetched;
  const signing = signingOf(fetched);
  const declared = declaredSigning(fetched);
  const signature = signatureOf(fetched);
  const keyId = keyOf(fetched);
  const state = level !== 'unsigned' ? 'verified' : signing === undefined ? 'unsigned' : 'unverifiable';
  const packed: JsonObject = JSON.parse(
    Buffer.from(archive.manifestBytes)
      .toString('utf8')
      .replace(/^\uFEFF/, ''),
  );
  return {
    name: manifest.name,
    version: manifest.version,
    kind: manifest.kind,
    integrity: archive.integrity,
    archiveBytes: bytes.length,
    // Some registries declare the signature beside the archive alone; without it nobody could verify the copy.
    manifest: declared === undefined ? packed : { ...packed, signing: { ...declared } },
    signing: {
      method: signing === undefined ? 'none' : (signing.method ?? 'manual'),
      state,
      ...(keyId !== undefined && { keyId }),
      ...(covers !== undefined && { covers }),
      ...(signedBy !== undefined && { signedBy }),
    },
    ...(signature !== undefined && { signature: Buffer.from(signature).toString('base64') }),
    files: [...archive.files.keys()].sort(),
    revertedYanks: [],
    provenance: {
      publishedAt: at,
      publishedBy: { keyId: 'mirror', name: mirrorOf(source) },
      mirroredFrom: source,
    },
  };
}

async function keep(
  { catalogue, storage, limits }: CopyDeps,
  published: PublishedVersion,
  bytes: Uint8Array,
): Promise<Copied> {
  const archive = await storage.spool(once(bytes), limits.archiveBytesMax);
  try {
    await archive.keep();
    const by = published.provenance.publishedBy.name;
    const copied = await catalogue.change(published, by, (state) => decideCopy(state, published));
    // The sweep may have looked for names just before this one was there.
    if (copied.kind !== 'left-out' && !(await storage.has(published.integrity))) await archive.keep();
    return copied;
  } finally {
    await archive.discard();
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function decideCopy(state: VersionState | undefined, published: PublishedVersion): VersionDecision<Copied> {
  const bytes = published.archiveBytes;
  if (state?.state === 'unpublished')
    return { kind: 'keep', result: { kind: 'left-out', reason: 'It was unpublished here.' } };
  if (state !== undefined && state.published.integrity !== published.integrity)
    throw new OpenwopError('conflict', {
      message: `It is here with other content, ${state.published.integrity}, and a version means the same bytes for ever. Tell the operator of the other registry.`,
    });
  if (state !== undefined) return { kind: 'keep', result: { kind: 'copied', bytes } };
  return {
    kind: 'write',
    type: 'published',
    result: { kind: 'copied', bytes },
    state: { state: 'published', published },
  };
}
