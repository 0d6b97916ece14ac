import { OpenwopError } from '@gantry/protocol';
import { type Archive, readArchive } from '../archive/read-archive.ts';
import { judgeInstall } from '../install/install-gate.ts';
import type { HostOffer } from '../install/offer.ts';
import { checkFiles } from '../manifest/files.ts';
import type { PackManifest } from '../manifest/kinds.ts';
import { readManifest } from '../manifest/read-manifest.ts';
import { judgeTrust, type TrustJudgement } from '../trust/judge-trust.ts';
import { type PublishedVersion, type RegistryTree, readVersion, type VersionFiles } from './registry-tree.ts';

export interface SweptPack {
  readonly manifest: PackManifest & { readonly kind: 'node' };
  readonly archive: Archive;
}

/** What became of a node type in the sandbox. */
export type NodeTypeResult =
  | { readonly state: 'ran' }
  /** It is there, and answered what it was given with an error of its own. */
  | { readonly state: 'loaded'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string };

export type Verdict = { readonly passed: true } | { readonly passed: false; readonly reason: string };

/** One version, or one node type of it. */
export interface SweepRow {
  readonly name: string;
  readonly version: string;
  readonly typeId?: string;
  readonly verified: Verdict;
  readonly install:
    | { readonly state: 'installable' }
    | { readonly state: 'yanked' }
    /** For a reason that its own manifest gives: what it needs, or a file that it names and lacks. */
    | { readonly state: 'refused'; readonly reason: string }
    | { readonly state: 'broken'; readonly reason: string };
  readonly nodeType?: NodeTypeResult;
}

export interface SweepOptions {
  /** What the imagined host offers; it may depend on the pack, to ask «what if it had everything». */
  readonly offer: (manifest: PackManifest) => HostOffer;
  readonly now: number;
  /** Loads and runs one node type; without it the sweep stops at the install gate. */
  readonly loadNodeType?: (pack: SweptPack, typeId: string) => Promise<NodeTypeResult>;
}

/** Goes over every version of a registry, one at a time. */
export async function* sweepRegistry(tree: RegistryTree, options: SweepOptions): AsyncGenerator<SweepRow> {
  for (const version of tree.versions) yield* sweepVersion(tree, version, options);
}

async function* sweepVersion(
  tree: RegistryTree,
  files: VersionFiles,
  options: SweepOptions,
): AsyncGenerator<SweepRow> {
  const { name, version } = files;
  try {
    const published = await readVersion(files);
    const archive = await readArchive(published.archive);
    const reading = readManifest(archive.manifestBytes);
    const verified = verdict(await judge(tree, files, { published, archive, reading }, options.now));
    if (reading.kind === 'refused') {
      const [issue] = reading.issues;
      const reason = `${issue?.code} at ${issue?.path} (line ${issue?.line}): ${issue?.message}`;
      yield { name, version, verified, install: { state: 'broken', reason } };
      return;
    }
    const install = judgeVersion(files, published, archive, reading.manifest, options);
    yield { name, version, verified, install };
    yield* sweepNodeTypes({ name, version, verified, install }, reading.manifest, archive, options);
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    const reason = `${error.code}: ${error.message}`;
    const verified = { passed: false, reason } as const;
    yield { name, version, verified, install: { state: 'broken', reason } };
  }
}

interface ReadVersion {
  readonly published: PublishedVersion;
  readonly archive: Archive;
  readonly reading: ReturnType<typeof readManifest>;
}

function judge(
  tree: RegistryTree,
  { name, version }: VersionFiles,
  { published, archive, reading }: ReadVersion,
  now: number,
): Promise<TrustJudgement> {
  const declared = reading.kind === 'manifest' ? reading.manifest.signing : undefined;
  const { signature } = published;
  return judgeTrust({
    pack: {
      name,
      version,
      signing: declared ?? published.signing,
      archive: published.archive,
      manifestBytes: archive.manifestBytes,
      files: archive.files,
      ...(signature === undefined ? {} : { detachedSignature: signature }),
    },
    record: published.record,
    policy: { mode: 'verified' },
    trust: { keys: tree.keys, now },
    advisories: tree.advisories,
    isExact: true,
  });
}

const verdict = (judgement: TrustJudgement): Verdict =>
  judgement.trusted ? { passed: true } : { passed: false, reason: `${judgement.code}: ${judgement.message}` };

function judgeVersion(
  { name, version }: VersionFiles,
  { record }: PublishedVersion,
  { files }: Archive,
  manifest: PackManifest,
  options: SweepOptions,
): SweepRow['install'] {
  if (manifest.name !== name || manifest.version !== version)
    return { state: 'broken', reason: `the archive holds ${manifest.name}@${manifest.version}` };
  if (record.yanked) return { state: 'yanked' };
  const [missing] = checkFiles(manifest, files);
  if (missing) {
    const reason = `${missing.code}: ${missing.path} names ${missing.file}. ${missing.message}`;
    return { state: 'refused', reason };
  }
  const judgement = judgeInstall(manifest, options.offer(manifest));
  if (judgement.installable) return { state: 'installable' };
  const reasons = judgement.refusals.map(({ code, message }) => `${code}: ${message}`);
  return { state: 'refused', reason: reasons.join(' ') };
}

async function* sweepNodeTypes(
  row: SweepRow,
  manifest: PackManifest,
  archive: Archive,
  { loadNodeType }: SweepOptions,
): AsyncGenerator<SweepRow> {
  if (manifest.kind !== 'node') return;
  for (const { typeId } of manifest.nodes ?? []) {
    const isTried = loadNodeType !== undefined && row.install.state === 'installable';
    const nodeType = isTried ? await loadNodeType({ manifest, archive }, typeId) : undefined;
    yield { ...row, typeId, ...(nodeType === undefined ? {} : { nodeType }) };
  }
}
