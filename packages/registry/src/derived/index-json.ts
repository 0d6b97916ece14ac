import type { PackSummary } from '../catalogue/catalogue.ts';

export const REGISTRY_VERSION = '1.0.0';

const indexed = (pack: PackSummary) => ({
  name: pack.name,
  kind: pack.kind,
  latestVersion: pack.latest,
  description: pack.description,
  license: pack.license,
  tags: pack.tags,
  typeIds: pack.typeIds,
  nodeCount: pack.nodeCount,
  agentCount: pack.agentCount,
  deprecated: pack.deprecated,
  yanked: pack.yanked,
});

/** `/v1/index.json`: every pack, by name. */
export const indexOf = (packs: readonly PackSummary[], generatedAt: string) => ({
  registryVersion: REGISTRY_VERSION,
  generatedAt,
  packCount: packs.length,
  packs: packs.map(indexed),
});
