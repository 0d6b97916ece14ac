import type { PackKind } from '@gantry/packs';
import type { Json, JsonObject } from '@gantry/protocol';
import type { PackSummary, PublishedVersion } from './catalogue.ts';
import { latestOf } from './order.ts';

/** Where each kind keeps what it brings, and the member that names it. */
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

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** The objects of a list; a single object counts as a list of one. */
const objects = (value: Json | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : [value ?? null]).filter(isObject);

const idsIn = (manifest: JsonObject, list: string, id: string): string[] =>
  objects(manifest[list])
    .map((item) => text(item[id]))
    .filter((found) => found !== '');

/** What a version brings: node types and agents, chains, templates, cards, artifact types, or the provider. */
const typeIdsOf = ({ kind, manifest }: Pick<PublishedVersion, 'kind' | 'manifest'>): string[] =>
  IDS[kind].flatMap(([list, id]) => idsIn(manifest, list, id));

export const nodeTypeIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'nodes', 'typeId');
export const agentIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'agents', 'agentId');

/** Expects the newest first; undefined when nothing is published. */
export function summaryOf(versions: readonly PublishedVersion[]): PackSummary | undefined {
  const latest = latestOf(versions);
  if (latest === undefined) return undefined;
  const { manifest } = latest;
  const tags = Array.isArray(manifest.keywords) ? manifest.keywords.map(text) : [];
  return {
    name: latest.name,
    kind: latest.kind,
    latest: latest.version,
    description: text(manifest.description),
    license: text(manifest.license),
    author: text(manifest.author),
    tags,
    typeIds: typeIdsOf(latest),
    nodeCount: nodeTypeIdsOf(manifest).length,
    agentCount: agentIdsOf(manifest).length,
    versionCount: versions.length,
    publishedAt: latest.provenance.publishedAt,
    deprecated: latest.deprecation !== undefined,
    yanked: latest.yank !== undefined,
  };
}
