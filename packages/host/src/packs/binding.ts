/** Which installed pack version serves each node type of a workflow, and the declarations of other kinds. */
import { type ArtifactType, type CompileOptions, OWN_TYPE_IDS, type PackNodeType } from '@gantry/engine';
import { highestIn } from '@gantry/packs';
import {
  OpenwopError,
  type WorkflowDefinition,
  type WorkflowPack,
  type WorkflowPacks,
} from '@gantry/protocol';
import { artifactTypeOf } from './artifact-types/artifact-type-record.ts';
import type { Declared, PackRecord } from './pack-record.ts';
import type { PackRecords, StoredPack } from './pack-records.ts';

/** Whether the meaning of a definition depends on the installed packs. */
export const usesPacks = ({ nodes, packs }: WorkflowDefinition): boolean =>
  packs !== undefined ||
  nodes.some(({ typeId, artifactType }) => artifactType !== undefined || !OWN_TYPE_IDS.has(typeId));

/** The definition with a `packs` map that names every used pack by version and content; runs are pinned to it. */
export async function pinPacks(
  records: PackRecords,
  tenant: string,
  definition: WorkflowDefinition,
): Promise<WorkflowDefinition> {
  const installed = await records.installed(tenant);
  const { packs: wished = {} } = definition;
  const chosen = new Map<string, StoredPack>();
  const current = [...(await records.serving(tenant)).values()];
  for (const [name, wish] of Object.entries(wished)) chosen.set(name, findWished(installed, name, wish));
  const pins: WorkflowPacks = {};
  for (const typeId of new Set(definition.nodes.map((node) => node.typeId))) {
    if (OWN_TYPE_IDS.has(typeId)) continue;
    const pack = serving(typeId, chosen, current, wished);
    // The compiler refuses unknown types, with their place.
    if (!pack) continue;
    const { name, version, integrity } = pack.record;
    pins[name] = { version, integrity, typeIds: [...(pins[name]?.typeIds ?? []), typeId] };
  }
  for (const [name, pin] of await artifactPins(records, tenant, { ...definition, packs: pins }, chosen))
    pins[name] = pin;
  return { ...definition, packs: pins };
}

/** Packs that register the artifact types of the nodes, as declared by the nodes or by their packs. */
async function artifactPins(
  records: PackRecords,
  tenant: string,
  pinned: WorkflowDefinition,
  chosen: ReadonlyMap<string, StoredPack>,
): Promise<Map<string, WorkflowPack>> {
  const { packTypes } = await pinnedTypes(records, pinned);
  const produced = pinned.nodes.map(
    ({ typeId, artifactType }) => artifactType ?? packTypes(typeId)?.artifact?.typeId,
  );
  const pins = new Map<string, WorkflowPack>();
  if (produced.every((typeId) => typeId === undefined)) return pins;
  const declared = await declaredPacks(records, tenant, 'artifact-type');
  const isChosen = ({ name, integrity }: DeclaredPack<'artifact-type'>): boolean =>
    (chosen.get(name)?.record.integrity ?? integrity) === integrity;
  const named = declared.toSorted(
    (left, right) => Number(chosen.has(right.name)) - Number(chosen.has(left.name)),
  );
  for (const typeId of new Set(produced)) {
    if (typeId === undefined) continue;
    const pack = named.find((each) => isChosen(each) && registers(each.declared, typeId));
    if (!pack) continue;
    const { name, version, integrity } = pack;
    pins.set(name, { version, integrity, typeIds: [...(pins.get(name)?.typeIds ?? []), typeId] });
  }
  return pins;
}

const registers = ({ types }: DeclaredPack<'artifact-type'>['declared'], typeId: string): boolean =>
  types.some(({ artifactTypeId }) => artifactTypeId === typeId);

/** The types of a pinned definition. */
export async function pinnedTypes(
  records: PackRecords,
  { packs = {} }: WorkflowDefinition,
): Promise<PinnedTypes> {
  const types = new Map<string, PackNodeType>();
  const artifacts = new Map<string, ArtifactType>();
  for (const { integrity, typeIds = [] } of Object.values(packs)) {
    if (integrity === undefined) continue;
    const { name, version, nodes, declared } = await records.version(integrity);
    if (declared?.kind === 'artifact-type')
      for (const type of declared.types)
        if (typeIds.includes(type.artifactTypeId)) artifacts.set(type.artifactTypeId, artifactTypeOf(type));
    for (const { needs: _needs, ...node } of nodes)
      if (typeIds.includes(node.typeId))
        types.set(node.typeId, { ...node, packName: name, packVersion: version, integrity });
  }
  return { packTypes: (typeId) => types.get(typeId), artifactTypes: (typeId) => artifacts.get(typeId) };
}

export type PinnedTypes = Required<Pick<CompileOptions, 'packTypes' | 'artifactTypes'>>;

export async function knownTypes(records: PackRecords, tenant: string): Promise<(typeId: string) => boolean> {
  const installed = await records.installed(tenant);
  const versions = await Promise.all(installed.map(({ record }) => records.version(record.integrity)));
  const typeIds = new Set(versions.flatMap(({ nodes }) => nodes.map((node) => node.typeId)));
  return (typeId) => typeIds.has(typeId);
}

export interface DeclaredPack<Kind extends Declared['kind']>
  extends Pick<PackRecord, 'name' | 'version' | 'integrity'> {
  /** The owner of the installation. */
  readonly tenant: string;
  readonly declared: Extract<Declared, { kind: Kind }>;
}

/** The declarations of installed packs of a kind: own ones before shared ones, the last installed first. */
export async function declaredPacks<Kind extends Declared['kind']>(
  records: PackRecords,
  tenant: string,
  kind: Kind,
): Promise<DeclaredPack<Kind>[]> {
  const installed = (await records.installed(tenant)).filter(({ record }) => record.kind === kind);
  const packs = await Promise.all(
    installed.map(async ({ tenant: owner, record: { name, version, integrity } }) => {
      const { declared } = await records.version(integrity);
      return isOf(declared, kind) ? [{ tenant: owner, name, version, integrity, declared }] : [];
    }),
  );
  return packs.flat();
}

const isOf = <Kind extends Declared['kind']>(
  declared: Declared | undefined,
  kind: Kind,
): declared is Extract<Declared, { kind: Kind }> => declared?.kind === kind;

function findWished(installed: readonly StoredPack[], name: string, wish: WorkflowPack): StoredPack {
  const named = installed.filter(({ record }) => record.name === name);
  const found = wish.version === undefined ? named[0] : inRange(named, wish.version);
  const wanted = wish.version === undefined ? name : `${name}@${wish.version}`;
  if (!found)
    throw new OpenwopError('pack_load_failure', {
      message: `The workflow asks for ${wanted}, which is not installed here. Install it, then register again.`,
      details: { pack: wanted, installed: named.map(({ record }) => record.version) },
    });
  if (wish.integrity !== undefined && wish.integrity !== found.record.integrity)
    throw new OpenwopError('pack_integrity_failure', {
      message: `${wanted} is installed as ${found.record.integrity}; the workflow pins ${wish.integrity}.`,
      details: { pack: wanted, installed: found.record.integrity, pinned: wish.integrity },
    });
  return found;
}

/** The exact version if installed, else the highest in the range; own packs before shared ones. */
function inRange(packs: readonly StoredPack[], range: string): StoredPack | undefined {
  const exact = packs.find(({ record }) => record.version === range);
  if (exact) return exact;
  for (const owner of new Set(packs.map(({ tenant }) => tenant))) {
    const own = packs.filter(({ tenant }) => tenant === owner);
    const version = highestIn(
      own.map(({ record }) => record.version),
      range,
    );
    if (version !== undefined) return own.find(({ record }) => record.version === version);
  }
  return undefined;
}

function serving(
  typeId: string,
  chosen: ReadonlyMap<string, StoredPack>,
  current: readonly StoredPack[],
  wished: WorkflowPacks,
): StoredPack | undefined {
  const offers = ({ record }: StoredPack): boolean =>
    record.typeIds.includes(typeId) && (wished[record.name]?.typeIds?.includes(typeId) ?? true);
  const named = [...chosen.values()].filter(offers);
  const others = current.filter((pack) => offers(pack) && !chosen.has(pack.record.name));
  const candidates = named.length > 0 ? named : others;
  if (candidates.length > 1) throw ambiguous(typeId, candidates);
  return candidates[0];
}

function ambiguous(typeId: string, candidates: readonly StoredPack[]): OpenwopError {
  const packs = candidates.map(({ record }) => `${record.name}@${record.version}`);
  return new OpenwopError('pack_load_failure', {
    message: `${packs.join(' and ')} both offer nodes of type ${typeId}. Name one of them in the \`packs\` map of the workflow.`,
    details: { typeId, packs },
  });
}
