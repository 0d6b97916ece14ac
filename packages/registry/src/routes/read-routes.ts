/** Read routes for everything but the packs themselves. */
import type { AccessRules, Api } from '@gantry/http';
import { viewOf } from '../catalogue/reader.ts';
import { AdvisoryFeed } from '../derived/advisory-feed.ts';
import { createSearch } from '../derived/search.ts';
import { advisoryRoutes } from './advisories.ts';
import { byTypeRoutes } from './by-type.ts';
import { discoveryRoutes } from './discovery.ts';
import { listingRoutes } from './listing.ts';
import { pageRoutes } from './pages.ts';
import type { ReadDeps, ReadOptions } from './read-deps.ts';
import { sbomRoutes } from './sbom.ts';
import { schemaRoutes } from './schemas.ts';
import { searchRoutes } from './search.ts';

/** Access rules for the routes below. */
export const READ_ACCESS: AccessRules = {
  'GET /.well-known/openwop-registry': 'optional',
  'GET /.well-known/openwop-registry.json': 'optional',
  'GET /v1/index.json': 'optional',
  'GET /v1/packs': 'optional',
  'GET /v1/packs/-/catalog': 'optional',
  'GET /v1/packs/export': 'optional',
  'GET /v1/packs/-/search': 'optional',
  'GET /v1/packs/-/by-type/{typeId}': 'optional',
  'GET /v1/packs/{name}/-/{version}.sbom.json': 'optional',
  'GET /v1/sbom.json': 'optional',
  'GET /security/advisories.json': 'optional',
  'PUT /v1/host/gantry/registry/advisories/{advisoryId}': ['packs:yank'],
  'GET /': 'optional',
  'GET /assets/{file}': 'public',
  'GET /packs/{name}': 'optional',
  'GET /packs/{name}/{version}': 'optional',
  'GET /{name}/{version}/{schema}': 'optional',
};

export function createReads({ catalogue, readerOf, store, ...described }: ReadOptions): ReadDeps {
  return {
    ...described,
    view: (request) => viewOf(catalogue, readerOf(request)),
    search: createSearch(),
    advisories: new AdvisoryFeed({ catalogue, store, now: described.now }),
  };
}

/** The API, also for a host that mounts the registry. */
export function readRoutes(app: Api, deps: ReadDeps): void {
  discoveryRoutes(app, deps);
  listingRoutes(app, deps);
  searchRoutes(app, deps);
  byTypeRoutes(app, deps);
  sbomRoutes(app, deps);
  advisoryRoutes(app, deps);
}

/** What a standalone registry serves at its root: web pages, and schemas at their `$id`. */
export function siteRoutes(app: Api, deps: ReadDeps): void {
  pageRoutes(app, deps);
  schemaRoutes(app, deps);
}
