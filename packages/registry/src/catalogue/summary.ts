import { PACK_KINDS } from '@gantry/packs';
import { given, type JsonObject } from '@gantry/protocol';
import semver from 'semver';
import { listAt, member, objectsAt, textAt } from '../json-values.ts';
import type { ConnectorFacet, PackSummary, PublishedVersion } from './catalogue.ts';

/** Newest first. Build metadata counts too, so that the order is total. */
export const newestFirst = (versions: readonly PublishedVersion[]): PublishedVersion[] =>
  versions.toSorted((left, right) => semver.compareBuild(right.version, left.version));

/**
 * The version to use when none is named: releases before prereleases, deprecated ones last, a yanked one only if
 * there is no other. Expects the newest first.
 */
export function latestOf(versions: readonly PublishedVersion[]): PublishedVersion | undefined {
  const offered = versions.filter(({ yank }) => yank === undefined);
  const released = offered.filter(({ version }) => semver.prerelease(version) === null);
  return (
    released.find(({ deprecation }) => deprecation === undefined) ?? released[0] ?? offered[0] ?? versions[0]
  );
}

/** The ids in a list; a single object counts as a list of one. */
const idsIn = (manifest: JsonObject, list: string, id: string): string[] => {
  const value = manifest[list];
  return (Array.isArray(value) ? value : [value]).flatMap((item) => textAt(item, id) ?? []);
};

/** Ids of node types and agents, chains, templates, cards, artifact types, or of the provider. */
const typeIdsOf = ({ kind, manifest }: Pick<PublishedVersion, 'kind' | 'manifest'>): string[] =>
  Object.entries(PACK_KINDS[kind].ids).flatMap(([list, id]) => idsIn(manifest, list, id));

export const nodeTypeIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'nodes', 'typeId');
export const agentIdsOf = (manifest: JsonObject): string[] => idsIn(manifest, 'agents', 'agentId');

/** Undefined for packs that are not connectors. */
export function connectorOf(manifest: JsonObject): ConnectorFacet | undefined {
  const connector = member(manifest, 'connector');
  const id = textAt(connector, 'id');
  if (id === undefined) return undefined;
  const authType = textAt(member(connector, 'auth'), 'type');
  return {
    id,
    displayName: textAt(connector, 'displayName') ?? id,
    ...given({ authType }),
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
