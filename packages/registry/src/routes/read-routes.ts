/** What the registry answers about what is published, beside the archives themselves. */
import type { AccessRules, Api } from '@gantry/http';
import { AdvisoryBoard } from '../derived/advisory-board.ts';
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

/** The rules for every route below. */
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
  return { ...options, search: createSearch(options.catalogue), advisories: new AdvisoryBoard(options) };
}

/** The API. A host that mounts the registry takes these. */
export function readRoutes(app: Api, deps: ReadDeps): void {
  discoveryRoutes(app, deps);
  listingRoutes(app, deps);
  searchRoutes(app, deps);
  byTypeRoutes(app, deps);
  sbomRoutes(app, deps);
  advisoryRoutes(app, deps);
}

/** What stands at the root of a registry's own address: the pages for people, and schemas at their `$id`. */
export function siteRoutes(app: Api, deps: ReadDeps): void {
  pageRoutes(app, deps);
  schemaRoutes(app, deps);
}
