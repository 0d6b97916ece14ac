/** The discovery document and the index of packs. */
import type { Api } from '@gantry/http';
import type { PackSummary } from '../catalogue/catalogue.ts';
import { byRevision } from '../derived/by-revision.ts';
import { describeRegistry, REGISTRY_VERSION } from '../derived/discovery.ts';
import { documentOf, documentRoute } from '../derived/document.ts';
import type { ReadDeps } from './read-deps.ts';

const SUMMARY = 'What the registry supports, and its addresses';

export function discoveryRoutes(app: Api, { view, profile, directory, now }: ReadDeps): void {
  // Static registries serve a file, so clients may request either name.
  for (const url of ['/.well-known/openwop-registry', '/.well-known/openwop-registry.json'])
    documentRoute(app, url, SUMMARY, async (request) =>
      documentOf(await describeRegistry(profile, directory, view(request).reader)),
    );
  const index = byRevision((catalogue) =>
    documentOf(indexOf(catalogue.summaries(), new Date(now()).toISOString())),
  );
  documentRoute(app, '/v1/index.json', 'Every published pack', (request) => index(view(request)));
}

const indexOf = (packs: readonly PackSummary[], generatedAt: string) => ({
  registryVersion: REGISTRY_VERSION,
  generatedAt,
  packCount: packs.length,
  packs: packs.map(indexed),
});

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
  ...(pack.connector && { connector: pack.connector }),
  deprecated: pack.deprecated,
  yanked: pack.yanked,
});
