import type { PackSummary } from '../catalogue/catalogue.ts';

/** A pack in lists and search results. */
export const packEntry = (pack: PackSummary) => ({
  name: pack.name,
  kind: pack.kind,
  latest: pack.latest,
  description: pack.description,
  author: pack.author,
  license: pack.license,
  tags: pack.tags,
  typeIds: pack.typeIds,
  ...(pack.connector && { connector: pack.connector }),
  publishedAt: pack.publishedAt,
  versionCount: pack.versionCount,
  deprecated: pack.deprecated,
  yanked: pack.yanked,
});
