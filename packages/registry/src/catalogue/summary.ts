import type { PackKind } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { listAt, textAt } from '../json-values.ts';
import type { PackSummary, PublishedVersion } from './catalogue.ts';
import { latestOf } from './order.ts';

/** By kind: the manifest members that list its contents, and the member with the id. */
const IDS: Readonly<Record<PackKind, readonly (readonly [list: string, id: string])[]>> = {
  node: [
    ['nodes', 'typeId'],
    ['agents', 'agentId'],
  ],
  'workflow-chain': [['chains', 'chainId']],
  prompt: [['prompts', 'templateId']],
  'artifact-type': [['artifactTypes', 'artifactTypeId']],
  card: [['cards', 'cardTypeId']],
  connection: [['provider', 'id']],
  'frontend-plugin': [['uiPlugins', 'pluginId']],
  'form-content': [['templates', 'templateId']],
};

/** The ids in a list; a single object counts as a list of one. */
const idsIn = (manifest: JsonObject, list: string, id: string): string[] => {
  const value = manifest[list];
  return (Array.isArray(value) ? value : [value]).flatMap((item) => textAt(item, id) ?? []);
};

/** Ids of node types and agents, chains, templates, cards, artifact types, or of the provider. */
const typeIdsOf = ({ kind, manifest }: Pick<PublishedVersion, 'kind' | 'manifest'>): string[] =>
  IDS[kind].flatMap(([list, id]) => idsIn(manifest, list, id));

export const nodeTypeIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'nodes', 'typeId');
export const agentIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'agents', 'agentId');

/** Expects the newest first; undefined if nothing is published. */
export function summaryOf(versions: readonly PublishedVersion[]): PackSummary | undefined {
  const latest = latestOf(versions);
  if (latest === undefined) return undefined;
  const { manifest } = latest;
  return {
    name: latest.name,
    kind: latest.kind,
    latest: latest.version,
    description: textAt(manifest, 'description') ?? '',
    license: textAt(manifest, 'license') ?? '',
    author: textAt(manifest, 'author') ?? '',
    tags: listAt(manifest, 'keywords').map((tag) => (typeof tag === 'string' ? tag : '')),
    typeIds: typeIdsOf(latest),
    nodeCount: nodeTypeIdsOf(manifest).length,
    agentCount: agentIdsOf(manifest).length,
    versionCount: versions.length,
    publishedAt: latest.provenance.publishedAt,
    deprecated: latest.deprecation !== undefined,
    yanked: latest.yank !== undefined,
  };
}
