/** Judges every version of a registry: fetched, verified and put through the install gate as a host would do it. */
import {
  type CopyableRegistry,
  checkFiles,
  type FetchedPack,
  fetchPack,
  type HostOffer,
  judgeFetched,
  judgeInstall,
  type PackManifest,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';

/** What became of a node type in the sandbox; `loaded` answered its sample inputs with an error of its own. */
export type NodeTypeResult =
  /** `misfit`: its outputs break the schema that it declares itself. */
  | { readonly state: 'ran'; readonly misfit?: string }
  | { readonly state: 'loaded' | 'failed'; readonly reason: string };

/** One version, or one node type of it. */
export interface SweepRow {
  readonly name: string;
  readonly version: string;
  readonly typeId?: string;
  readonly verified: { readonly passed: true } | { readonly passed: false; readonly reason: string };
  readonly install:
    | { readonly state: 'installable' | 'yanked' }
    /** `refused` for a reason that its own manifest gives: what it needs, or a file that it names and lacks. */
    | { readonly state: 'refused' | 'broken'; readonly reason: string };
  readonly nodeType?: NodeTypeResult;
}

export interface SweepOptions {
  readonly offer: (manifest: PackManifest) => HostOffer;
  readonly now: number;
  /** Loads and runs one node type; without it the sweep stops at the install gate. */
  readonly loadNodeType?: (pack: FetchedPack, typeId: string) => Promise<NodeTypeResult>;
}

export async function* sweepRegistry(
  registry: CopyableRegistry,
  options: SweepOptions,
): AsyncGenerator<SweepRow> {
  for (const name of await registry.list()) {
    const { versions = [] } = (await registry.index(name)) ?? {};
    for (const { version } of versions) yield* sweepVersion(registry, name, version, options);
  }
}

async function* sweepVersion(
  registry: CopyableRegistry,
  name: string,
  version: string,
  { offer, now, loadNodeType }: SweepOptions,
): AsyncGenerator<SweepRow> {
  try {
    const pack = await fetchPack({ registry, name, version });
    const judgement = await judgeFetched(pack, { policy: { mode: 'verified' }, isExact: true, now });
    const verified = judgement.trusted
      ? ({ passed: true } as const)
      : ({ passed: false, reason: `${judgement.code}: ${judgement.message}` } as const);
    const row = { name, version, verified, install: judgeVersion(pack, offer) };
    yield row;
    if (pack.manifest.kind !== 'node') return;
    for (const { typeId } of pack.manifest.nodes ?? []) {
      const isTried = loadNodeType !== undefined && row.install.state === 'installable';
      yield { ...row, typeId, ...(isTried && { nodeType: await loadNodeType(pack, typeId) }) };
    }
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    const reason = `${error.code}: ${error.message}`;
    yield { name, version, verified: { passed: false, reason }, install: { state: 'broken', reason } };
  }
}

function judgeVersion(
  { manifest, archive, served }: FetchedPack,
  offer: SweepOptions['offer'],
): SweepRow['install'] {
  if (served.record.yanked) return { state: 'yanked' };
  const [missing] = checkFiles(manifest, archive.files);
  if (missing)
    return {
      state: 'refused',
      reason: `${missing.code}: ${missing.path} names ${missing.file}. ${missing.message}`,
    };
  const judgement = judgeInstall(manifest, offer(manifest));
  if (judgement.installable) return { state: 'installable' };
  const reasons = judgement.refusals.map(({ code, message }) => `${code}: ${message}`);
  return { state: 'refused', reason: reasons.join(' ') };
}

/** The counts, and whether every version is verified, and installable or refused for a reason of its own. */
export function summarize(rows: readonly SweepRow[]) {
  const versions = rows.filter(({ typeId }) => typeId === undefined);
  const types = rows.filter(({ typeId, install }) => typeId !== undefined && install.state !== 'yanked');
  const count = (state: SweepRow['install']['state']): number =>
    versions.filter(({ install }) => install.state === state).length;
  const inState = (...states: string[]): number =>
    types.filter(({ nodeType }) => nodeType && states.includes(nodeType.state)).length;
  const verified = versions.filter(({ verified: { passed } }) => passed).length;
  const [broken, failed] = [count('broken'), inState('failed')];
  return {
    versions: versions.length,
    verified,
    installable: count('installable'),
    refused: count('refused'),
    yanked: count('yanked'),
    broken,
    nodeTypes: new Set(types.map(({ typeId }) => typeId)).size,
    loaded: inState('loaded', 'ran'),
    ran: inState('ran'),
    failed,
    breakOutputSchema: types.filter(
      ({ nodeType }) => nodeType?.state === 'ran' && nodeType.misfit !== undefined,
    ).length,
    isSound: broken === 0 && failed === 0 && verified === versions.length,
  };
}
