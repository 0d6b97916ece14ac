/** Read routes for everything but the packs themselves. */
import type { AccessRules, Api } from '@gantry/http';
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
  'GET /.well-known/openwop-registry': 'public',
  'GET /.well-known/openwop-registry.json': 'public',
  'GET /v1/index.json': 'public',
  'GET /v1/packs': 'public',
  'GET /v1/packs/-/catalog': 'public',
  'GET /v1/packs/export': 'public',
  'GET /v1/packs/-/search': 'public',
  'GET /v1/packs/-/by-type/{typeId}': 'public',
  'GET /v1/packs/{name}/-/{version}.sbom.json': 'public',
  'GET /v1/sbom.json': 'public',
  'GET /security/advisories.json': 'public',
  'PUT /v1/host/gantry/registry/advisories/{advisoryId}': ['packs:yank'],
  'GET /': 'public',
  'GET /assets/{file}': 'public',
  'GET /packs/{name}': 'public',
  'GET /packs/{name}/{version}': 'public',
  'GET /{name}/{version}/{schema}': 'public',
};

export function createReads(options: ReadOptions): ReadDeps {
  return { ...options, search: createSearch(options.catalogue), advisories: new AdvisoryFeed(options) };
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
