/** Optional endpoints that list everything at once. */
import type { Api } from '@gantry/http';
import type { JsonObject } from '@gantry/protocol';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { byRevision } from '../derived/by-revision.ts';
import { documentOf, documentRoute } from '../derived/document.ts';
import { packEntry } from '../derived/pack-entry.ts';
import { objectsAt } from '../json-values.ts';
import type { ReadDeps } from './read-deps.ts';

export function listingRoutes(app: Api, { view }: ReadDeps): void {
  const agentsIn = byRevision(publishedAgents);
  const listing = byRevision(async (catalogue) => {
    const published = await agentsIn(catalogue);
    const packs = catalogue.summaries().map((pack) => {
      const brought = published.get(pack.name);
      return { ...packEntry(pack), ...(brought !== undefined && { agents: brought }) };
    });
    return documentOf({ packs, total: packs.length });
  });
  const manifests = byRevision(async (catalogue) => {
    const all = [...(await agentsIn(catalogue)).values()].flat();
    return documentOf({ manifests: all, total: all.length });
  });

  for (const url of ['/v1/packs', '/v1/packs/-/catalog'])
    documentRoute(app, url, 'List every published pack', (request) => listing(view(request)));
  documentRoute(app, '/v1/packs/export', 'The manifests of all agents in published packs', (request) =>
    manifests(view(request)),
  );
}

/** The agents of each pack's newest version that is not yanked, as their manifests declare them. */
async function publishedAgents(catalogue: Catalogue): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  const agents = new Map<string, readonly JsonObject[]>();
  for (const { name, latest, agentCount, yanked } of catalogue.summaries()) {
    if (agentCount === 0 || yanked) continue;
    agents.set(name, objectsAt((await catalogue.version(name, latest))?.manifest, 'agents'));
  }
  return agents;
}
