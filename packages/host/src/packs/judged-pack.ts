/** Judges one archive of a plan: its manifest, proof, needs of the host, and grants. */
import {
  type Archive,
  checkFiles,
  grantDifference,
  type InstallJudgement,
  judgeInstall,
  type PackManifest,
  type PackPin,
  type Refusal,
  readArchive,
  readManifest,
  refusalError,
  requiresOf,
} from '@gantry/packs';
import { given, isoTime, type JsonObject, OpenwopError } from '@gantry/protocol';
import { givenBy } from './grants.ts';
import { refuseOther, refuseOtherBytes } from './known-bytes.ts';
import { GRANTABLE, granting, type Offer } from './offer.ts';
import { labelOf, type PackRecord, packs } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';
import type { Sandboxes } from './sandboxes.ts';
import { type HostTrust, judgeProof, type RegistryProof, type Trusted } from './trust.ts';
import { contentsOf } from './version-record.ts';

const ISSUES_MAX = 50;

/** An archive that is about to be installed. */
export interface Candidate {
  readonly bytes: Uint8Array;
  readonly source: PackRecord['source'];
  /** The statements of the registry, if the archive came from one. */
  readonly registry?: RegistryProof;
  /** Other bytes of the same version may replace it later. */
  readonly development: boolean;
  /** For the operator, about how it was chosen. */
  readonly warnings?: readonly string[];
}

/** A pack, and the permissions that it requests, including those for surfaces that its code calls. */
export interface Asking {
  readonly name: string;
  readonly asks: readonly string[];
  /** The surfaces that its code calls cannot be determined in full. */
  readonly isUndetermined: boolean;
}

export interface Given {
  readonly grants: readonly string[];
  /** Earlier grants are not added. */
  readonly exactly?: boolean;
}

/** The rules by which the archives of a plan are judged. */
export interface JudgingRules {
  readonly tenant: string;
  readonly by: string;
  readonly given: (asking: Asking) => Given;
  /** They may replace newer versions. */
  readonly older?: boolean;
  /** Pins of the workflow that requests them. */
  readonly pins?: readonly PackPin[];
}

export interface JudgingOptions {
  readonly records: PackRecords;
  readonly sandboxes: Sandboxes;
  readonly offer: Offer;
  readonly trust: () => Promise<HostTrust>;
  /** Pins of the workflows of a tenant. */
  readonly workflowPins: (tenant: string) => Promise<readonly PackPin[]>;
  readonly now: () => number;
}

export type JudgedPack = Awaited<ReturnType<typeof judgePack>>;
type ReadPack = Awaited<ReturnType<typeof readPack>>;

export async function judgePack(options: JudgingOptions, rules: JudgingRules, candidate: Candidate) {
  const { records, now } = options;
  const { tenant } = rules;
  const read = await readPack(options, candidate);
  const { archive, contents, manifest } = read;
  const { name, version } = manifest;
  const { integrity } = archive;
  const before = await records.find(packs, tenant, labelOf(manifest));
  const earlier = before?.record;
  // A version in development may be replaced, also by its release; a release never changes.
  if (earlier && !earlier.development) refuseOther({ name, version, integrity }, earlier.integrity);
  if (candidate.source !== 'folder') await refuseOtherBytes(records, tenant, { name, version, integrity });
  const trust = await proofOf(options, rules, candidate, read, earlier);
  const holder = { integrity, signer: trust.signer };
  const inherited = await records.inherited(tenant, name, holder);
  const { surfaceAsks = [], surfaceUnknowns = [] } = contents.record;
  const asks = [...requiresOf(manifest), ...surfaceAsks];
  const { grants, exactly } = rules.given({ name, asks, isUndetermined: surfaceUnknowns.length > 0 });
  const granted = [...new Set([...(exactly ? [] : inherited), ...givenBy(tenant, grants)])].sort();
  const judgement = judgeInstall(manifest, granting(read.offer, granted), surfaceAsks);
  return {
    candidate,
    record: recordOf(rules, candidate, read, { trust, judgement, at: now() }),
    version: contents.record,
    holder,
    /** The record of the same version. */
    before,
    asks,
    /** Its grants. */
    granted,
    /** Why it cannot be installed with its grants. */
    refusal: judgement.installable ? undefined : asking(judgement, inherited, asks),
  };
}

/** Refuses everything that no grant could change: peers, engines, runtime, kind. */
async function readPack(options: JudgingOptions, { bytes, source }: Candidate) {
  const archive = await readArchive(bytes);
  const manifest = manifestOf(archive);
  const offer = await options.offer(manifest);
  const judgement = judgeInstall(manifest, granting(offer, GRANTABLE));
  if (!judgement.installable) throw refusalError(judgement.refusals);
  const contents = contentsOf(manifest, archive, source);
  const { code } = contents.record;
  if (code && code.language !== 'remote') await options.sandboxes.for(source);
  return { archive, manifest, offer, contents };
}

export function manifestOf(archive: Archive): PackManifest {
  const reading = readManifest(archive.manifestBytes);
  const issues = reading.kind === 'refused' ? reading.issues : checkFiles(reading.manifest, archive.files);
  const [first] = issues;
  if (first)
    throw new OpenwopError(first.code, {
      message: `pack.json ${first.path || '/'}: ${first.message}`,
      details: { issues: issues.slice(0, ISSUES_MAX).map((issue): JsonObject => ({ ...issue })) },
    });
  if (reading.kind === 'refused') throw new Error('a refused manifest has issues');
  return reading.manifest;
}

async function proofOf(
  { records, trust, workflowPins, now }: JudgingOptions,
  { tenant, older = false, pins = [] }: JudgingRules,
  { bytes, source, registry, development }: Candidate,
  { archive, manifest }: ReadPack,
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
    // An archive that is already installed does not change which version serves.
    allowsOlder: older || development || earlier?.integrity === archive.integrity,
    pins: async () => [...pins, ...(await workflowPins(tenant))],
    now: now(),
  });
}

/** The first refusal, with the new permissions that the pack requests. */
function asking(
  { refusals: [first] }: Extract<InstallJudgement, { installable: false }>,
  before: readonly string[],
  asks: readonly string[],
): Refusal {
  const { added, kept } = grantDifference(before, asks);
  return { ...first, details: { ...first.details, added: [...added], granted: [...kept] } };
}

interface Findings {
  readonly trust: Trusted;
  readonly judgement: InstallJudgement;
  readonly at: number;
}

function recordOf(
  { by }: JudgingRules,
  { source, development, warnings = [] }: Candidate,
  { manifest, archive, contents }: ReadPack,
  { trust, judgement, at }: Findings,
): PackRecord {
  const { name, version, kind, description, dependencies } = manifest;
  const { signedBy, covers, unknownSigner } = trust;
  const { degraded, shadowed } = judgement.installable ? judgement : { degraded: [], shadowed: [] };
  const own = shadowed.map((typeId) => `${typeId} is a type of the host itself, which is used instead.`);
  return {
    name,
    version,
    kind,
    integrity: archive.integrity,
    source,
    development,
    trust: trust.level,
    ...given({ description, dependencies, signedBy, covers, unknownSigner }),
    requires: [...contents.record.requires],
    typeIds: contents.record.nodes.map(({ typeId }) => typeId),
    chainIds: contents.record.chains.map(({ chainId }) => String(chainId)),
    contentIds: [...contents.contentIds],
    degraded: [...degraded],
    warnings: [...warnings, ...trust.warnings, ...contents.warnings, ...own],
    installedAt: isoTime(at),
    installedBy: by,
  };
}
