import type { PackKind } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { listAt, member, objectsAt, textAt } from '../json-values.ts';
import type { ConnectorFacet, PackSummary, PublishedVersion } from './catalogue.ts';
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

/** Undefined for packs that are no connector. */
export function connectorOf(manifest: JsonObject): ConnectorFacet | undefined {
  const connector = member(manifest, 'connector');
  const id = textAt(connector, 'id');
  if (id === undefined) return undefined;
  const authType = textAt(member(connector, 'auth'), 'type');
  return {
    id,
    displayName: textAt(connector, 'displayName') ?? id,
    ...(authType !== undefined && { authType }),
    actions: objectsAt(connector, 'actions').map((action) => {
      const typeId = textAt(action, 'typeId') ?? '';
      return { typeId, displayName: textAt(action, 'displayName') ?? typeId };
    }),
  };
}

/** Expects the newest first; undefined if nothing is published. */
export function summaryOf(versions: readonly PublishedVersion[]): PackSummary | undefined {
  const latest = latestOf(versions);
  if (latest === undefined) return undefined;
  const { manifest } = latest;
  const connector = connectorOf(manifest);
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
    ...(connector && { connector }),
    versionCount: versions.length,
    publishedAt: latest.provenance.publishedAt,
    deprecated: latest.deprecation !== undefined,
    yanked: latest.yank !== undefined,
  };
}
