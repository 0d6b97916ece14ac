/**
 * Takes a pack in. Everything is judged before anything is written: archive, manifest, proof, and what it needs of
 * this host. One commit then holds the installation, its content and its grant; code is unpacked when it is used.
 */
import {
  type Archive,
  checkFiles,
  grantDifference,
  type HostOffer,
  judgeInstall,
  type PackManifest,
  type PackPin,
  readArchive,
  readManifest,
  refusalError,
  requiresOf,
} from '@gantry/packs';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Entry, Store, Write } from '@gantry/store';
import { givenBy, grantWrite } from './grants.ts';
import { bytesWrites, refuseOther, refuseOtherBytes } from './known-bytes.ts';
import { GRANTABLE, granting, type Offer, SURFACE_GRANTS } from './offer.ts';
import { archiveKey, bodyOf, type PackRecord, packKey, putting, versionKey } from './pack-record.ts';
import { PACKS_MAX, type PackRecords } from './pack-records.ts';
import type { Sandboxes } from './sandboxes.ts';
import { type HostTrust, judgeProof, type RegistryProof, type Trusted } from './trust.ts';
import { type Contents, contentsOf } from './version-record.ts';

const TRIES_MAX = 4;
const ISSUES_MAX = 50;

export interface InstallRequest {
  readonly tenant: string;
  readonly archive: Uint8Array;
  readonly source: PackRecord['source'];
  /** Where a registry sent it, what it says of it. */
  readonly registry?: RegistryProof;
  /** Other bytes of the same version may replace it later. */
  readonly development: boolean;
  /** It may take the place of a newer version. */
  readonly older?: boolean;
  /** Pins of the workflow that asks for it. */
  readonly pins?: readonly PackPin[];
  /** Granted now, beside what was granted before. `all` is for folders that the operator names. */
  readonly grant: readonly string[] | 'all';
  /** Nothing that was granted before counts beside it. */
  readonly exactly?: boolean;
  readonly by: string;
}

export interface Installed {
  /** False when the same bytes were there already. */
  readonly changed: boolean;
  readonly record: PackRecord;
}

export interface InstallerOptions {
  readonly store: Pick<Store, 'commit'>;
  readonly records: PackRecords;
  readonly sandboxes: Sandboxes;
  readonly offer: Offer;
  readonly trust: () => Promise<HostTrust>;
  /** Pins of the workflows of a tenant. */
  readonly workflowPins: (tenant: string) => Promise<readonly PackPin[]>;
  readonly now: () => number;
}

export async function installPack(options: InstallerOptions, request: InstallRequest): Promise<Installed> {
  const archive = await readArchive(request.archive);
  const manifest = manifestOf(archive);
  // What no grant could change comes first: peers, engines, runtime, kind.
  const offer = await options.offer(manifest);
  judgeNeeds({ manifest, offer }, GRANTABLE, []);
  const contents = contentsOf(manifest, archive, request.source);
  const { code } = contents.record;
  if (code && code.language !== 'remote') await options.sandboxes.for(request.source);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const installed = await tryInstall(options, request, { archive, manifest, offer, contents });
    if (installed) return installed;
  }
  throw new OpenwopError('conflict', {
    message: `${manifest.name} is being installed by someone else. Try again.`,
  });
}

function manifestOf(archive: Archive): PackManifest {
  const reading = readManifest(archive.manifestBytes);
  const issues = reading.kind === 'refused' ? reading.issues : checkFiles(reading.manifest, archive.files);
  const [first] = issues;
  if (first) {
    const told = issues.slice(0, ISSUES_MAX).map((issue): JsonObject => ({ ...issue }));
    throw new OpenwopError(first.code, {
      message: `pack.json ${first.path || '/'}: ${first.message}`,
      details: { issues: told },
    });
  }
  if (reading.kind === 'refused') throw new Error('a refused manifest has issues');
  return reading.manifest;
}

interface Judged {
  readonly archive: Archive;
  readonly manifest: PackManifest;
  readonly offer: HostOffer;
  readonly contents: Contents;
}

/** Undefined when somebody else wrote in between. */
async function tryInstall(
  options: InstallerOptions,
  request: InstallRequest,
  judged: Judged,
): Promise<Installed | undefined> {
  const { records, now, store } = options;
  const { tenant } = request;
  const { name, version } = judged.manifest;
  const before = await records.entry(packKey(tenant, name, version));
  const earlier = before ? bodyOf<PackRecord>(before) : undefined;
  const { integrity } = judged.archive;
  // What is being developed gives way, also to its release; a release stays what it is.
  if (earlier && !earlier.development) refuseOther({ name, version, integrity }, earlier.integrity);
  if (request.source !== 'folder') await refuseOtherBytes(records, tenant, { name, version, integrity });
  if (!before && (await records.count(tenant)) >= PACKS_MAX)
    throw new OpenwopError('conflict', { message: `At most ${PACKS_MAX} pack versions are installed.` });
  const trust = await proofOf(options, request, judged, earlier);
  const grantEntry = await records.grant(tenant, name);
  const holder = { integrity, signer: trust.signer };
  const inherited = await records.inherited(tenant, name, holder);
  const granted = grantsFor(request, judged, request.exactly ? [] : inherited);
  const { degraded, shadowed } = judgeNeeds(judged, granted, inherited);
  const record = recordOf(request, judged, trust, { degraded, shadowed, at: now() });
  const unchanged = earlier?.integrity === record.integrity && earlier.development === record.development;
  const writes = [
    ...(unchanged
      ? []
      : [putting({ key: packKey(tenant, name, version), body: record, before, now: now() })]),
    ...(await contentWrites(records, request, judged, now())),
    ...(request.development
      ? []
      : await bytesWrites(records, {
          tenant,
          record,
          isFromRegistry: request.registry !== undefined,
          now: now(),
        })),
    ...grantWrite(
      { tenant, name, version, ...holder, requires: granted, by: request.by, now: now() },
      grantEntry,
    ),
  ];
  if (writes.length === 0) return { changed: false, record: earlier ?? record };
  const [result] = await store.commit([writes]);
  return result?.won ? { changed: !unchanged, record: unchanged ? earlier : record } : undefined;
}

async function proofOf(
  { records, trust, workflowPins, now }: InstallerOptions,
  { tenant, archive: bytes, source, registry, development, older = false, pins = [] }: InstallRequest,
  { archive, manifest }: Judged,
  earlier: PackRecord | undefined,
): Promise<Trusted> {
  const [current] = await records.versionsOf(tenant, manifest.name);
  const origin = registry
    ? ({ from: 'registry', proof: registry } as const)
    : ({ from: source === 'folder' ? 'folder' : 'upload' } as const);
  return judgeProof({
    trust: await trust(),
    origin,
    bytes,
    archive,
    manifest,
    current,
    // What is there already changes nothing about which version serves.
    allowsOlder: older || development || earlier?.integrity === archive.integrity,
    pins: async () => [...pins, ...(await workflowPins(tenant))],
    now: now(),
  });
}

/** Of what is granted before and now, what the pack asks for. */
function grantsFor(
  { grant, tenant }: InstallRequest,
  judged: Judged,
  before: readonly string[],
): readonly string[] {
  const { surfaceUnknowns = [] } = judged.contents.record;
  const all = surfaceUnknowns.length > 0 ? SURFACE_GRANTS : [];
  const given = grant === 'all' ? [...asksOf(judged), ...all] : givenBy(tenant, grant);
  return [...new Set([...before, ...given])].sort();
}

type Asking = Pick<Judged, 'manifest' | 'offer'> & Partial<Pick<Judged, 'contents'>>;

const asksOf = ({ manifest, contents }: Omit<Asking, 'offer'>): readonly string[] => [
  ...requiresOf(manifest),
  ...(contents?.record.surfaceAsks ?? []),
];

function judgeNeeds(
  { manifest, offer, contents }: Asking,
  granted: readonly string[],
  before: readonly string[],
) {
  const judgement = judgeInstall(manifest, granting(offer, granted), contents?.record.surfaceAsks);
  if (judgement.installable) return judgement;
  const [first, ...others] = judgement.refusals;
  if (!first) throw new Error('a refusal has a reason');
  const { added, kept } = grantDifference(before, asksOf(contents ? { manifest, contents } : { manifest }));
  const asks =
    first.code === 'pack_runtime_requirement_unmet' ? { added: [...added], granted: [...kept] } : {};
  throw refusalError([{ ...first, details: { ...first.details, ...asks } }, ...others]);
}

function recordOf(
  { source, development, by }: InstallRequest,
  { manifest, archive, contents }: Judged,
  trust: Trusted,
  { degraded, shadowed, at }: { degraded: readonly string[]; shadowed: readonly string[]; at: number },
): PackRecord {
  const { name, version, kind, description } = manifest;
  const own = shadowed.map((typeId) => `${typeId} is a type of the host itself, which is used instead.`);
  return {
    name,
    version,
    kind,
    integrity: archive.integrity,
    source,
    development,
    ...(description !== undefined && { description }),
    trust: trust.level,
    ...(trust.signedBy !== undefined && { signedBy: trust.signedBy }),
    ...(trust.covers !== undefined && { covers: trust.covers }),
    requires: [...contents.record.requires],
    typeIds: contents.record.nodes.map(({ typeId }) => typeId),
    chainIds: contents.record.chains.map(({ chainId }) => String(chainId)),
    contentIds: [...contents.contentIds],
    degraded: [...degraded],
    warnings: [...trust.warnings, ...contents.warnings, ...own],
    installedAt: new Date(at).toISOString(),
    installedBy: by,
  };
}

/** Content is kept once, under its integrity, whoever installs it. */
async function contentWrites(
  records: PackRecords,
  { archive: bytes }: InstallRequest,
  { archive: { integrity }, contents }: Judged,
  now: number,
): Promise<Write[]> {
  const before: Entry | null = await records.entry(versionKey(integrity));
  if (before) return [];
  const archive = Buffer.from(bytes).toString('base64');
  return [
    putting({ key: versionKey(integrity), body: contents.record, before, now }),
    putting({ key: archiveKey(integrity), body: { archive }, before, now }),
  ];
}
