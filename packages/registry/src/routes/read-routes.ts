/** Documents about packs: discovery, lists, search, SBOMs, advisories, schemas. Packs themselves: `packs.ts`. */
import { type AccessRules, type Api, callerOf, HOST_ADMIN } from '@gantry/http';
import { PACK_KINDS, type PackKind } from '@gantry/packs';
import { closedObject, given, invalid, isoTime, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { refuseMissingScope } from '../access.ts';
import type { Catalogue, PackSummary } from '../catalogue/catalogue.ts';
import { type CatalogueView, type ReaderOf, viewOf } from '../catalogue/reader.ts';
import { byRevision } from '../catalogue/revision-cache.ts';
import { PublishedAdvisory } from '../derived/advisory.ts';
import { AdvisoryFeed } from '../derived/advisory-feed.ts';
import {
  describeRegistry,
  type KeyDirectory,
  REGISTRY_VERSION,
  type RegistryProfile,
} from '../derived/discovery.ts';
import { documentOf, documentRoute, sendDocument, textDocument } from '../derived/document.ts';
import { registrySbom, versionSbom } from '../derived/sbom.ts';
import { createSearch, type Search } from '../derived/search.ts';
import { objectsAt } from '../json-values.ts';
import { pageRoutes } from './pages.ts';

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

interface Described {
  readonly profile: RegistryProfile;
  readonly directory: KeyDirectory;
  readonly now: () => number;
}

interface ReadOptions extends Described {
  readonly catalogue: Catalogue;
  readonly readerOf: ReaderOf;
  readonly store: Pick<Store, 'entries' | 'commit'>;
}

/** Dependencies of the read routes. They only get the caller's view of a catalogue. */
export interface ReadDeps extends Described {
  readonly view: (request: FastifyRequest) => CatalogueView;
  readonly search: Search;
  readonly advisories: AdvisoryFeed;
}

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
  searchRoute(app, deps);
  byTypeRoute(app, deps);
  sbomRoutes(app, deps);
  advisoryRoutes(app, deps);
}

/** The root of a standalone registry: web pages, and schemas at their `$id`. */
export function siteRoutes(app: Api, deps: ReadDeps): void {
  pageRoutes(app, deps);
  schemaRoute(app, deps);
}

function discoveryRoutes(app: Api, { view, profile, directory, now }: ReadDeps): void {
  const SUMMARY = 'What the registry supports, and its addresses';
  // Static registries serve a file, so clients may request either name.
  for (const url of ['/.well-known/openwop-registry', '/.well-known/openwop-registry.json'])
    documentRoute(app, url, SUMMARY, async (request) =>
      documentOf(describeRegistry(profile, directory, view(request).reader)),
    );
  const index = byRevision((catalogue) => {
    const packs = catalogue.summaries().map(indexed);
    const generatedAt = isoTime(now());
    return documentOf({ registryVersion: REGISTRY_VERSION, generatedAt, packCount: packs.length, packs });
  });
  documentRoute(app, '/v1/index.json', 'Every published pack', (request) => index(view(request)));
}

/** A pack in the index. */
const indexed = ({ latest, author: _, versionCount: __, publishedAt: ___, ...pack }: PackSummary) => ({
  ...pack,
  latestVersion: latest,
});

/** A pack in lists and search results. */
const packEntry = ({ nodeCount: _, agentCount: __, ...pack }: PackSummary) => pack;

/** Optional endpoints that list everything at once. */
function listingRoutes(app: Api, { view }: ReadDeps): void {
  const agentsIn = byRevision(publishedAgents);
  const listing = byRevision(async (catalogue) => {
    const published = await agentsIn(catalogue);
    const packs = catalogue
      .summaries()
      .map((pack) => ({ ...packEntry(pack), ...given({ agents: published.get(pack.name) }) }));
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

const LIMIT = 20;
const LIMIT_MAX = 100;
export const QUERY_CHARS_MAX = 200;

const SEARCH = {
  summary: 'Search packs by name, tag, type and description',
  querystring: closedObject({
    q: Type.Optional(Type.String({ maxLength: QUERY_CHARS_MAX })),
    kind: Type.Optional(Type.Enum(Object.keys(PACK_KINDS) as PackKind[])),
    cursor: Type.Optional(Type.String({ maxLength: 1024 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  }),
};

function searchRoute(app: Api, { search, view }: ReadDeps): void {
  app.get('/v1/packs/-/search', { schema: SEARCH }, async (request, reply) => {
    const { q = '', limit = LIMIT, ...rest } = request.query;
    const { results, ...answer } = search(view(request), { q, limit, ...rest });
    return sendDocument(request, reply, documentOf({ q, ...answer, results: results.map(packEntry) }));
  });
}

const BY_TYPE = {
  summary: 'Packs that provide a type, by its exact id',
  params: Type.Object({ typeId: Type.String({ minLength: 1, maxLength: 256 }) }),
};

function byTypeRoute(app: Api, { view }: ReadDeps): void {
  // Without packs whose versions are all yanked.
  const packsByType = byRevision((catalogue) => {
    const provided = catalogue
      .summaries()
      .flatMap((pack) => (pack.yanked ? [] : pack.typeIds.map((typeId) => ({ typeId, pack }))));
    return Map.groupBy(provided, ({ typeId }) => typeId);
  });
  app.get('/v1/packs/-/by-type/:typeId', { schema: BY_TYPE }, async (request, reply) => {
    const { typeId } = request.params;
    const found = (await packsByType(view(request))).get(typeId);
    if (found === undefined)
      throw new OpenwopError('not_found', {
        message: 'No published pack provides this type. Search for a part of its name instead.',
      });
    const packs = found.map(({ pack }) => packEntry(pack));
    return sendDocument(request, reply, documentOf({ typeId, packs }));
  });
}

const Version = { name: Type.String({ maxLength: 256 }), version: Type.String({ maxLength: 128 }) };
const VERSION_SBOM = {
  summary: 'The SBOM of a version, in CycloneDX 1.6',
  params: Type.Object(Version),
};

/** Yanked versions keep their SBOM. */
function sbomRoutes(app: Api, { view, profile }: ReadDeps): void {
  const whole = byRevision(async (catalogue) => documentOf(await registrySbom(catalogue, profile)));

  app.get('/v1/packs/:name/-/:version.sbom.json', { schema: VERSION_SBOM }, async (request, reply) => {
    const { name, version } = request.params;
    const published = await view(request).version(name, version);
    if (published === undefined) throw new OpenwopError('not_found');
    return sendDocument(request, reply, documentOf(versionSbom(published)));
  });
  documentRoute(app, '/v1/sbom.json', 'The SBOM of all versions, in CycloneDX 1.6', (request) =>
    whole(view(request)),
  );
}

const PUBLISH = {
  summary: 'Publish or correct a security advisory; affected versions must be yanked',
  params: Type.Object({ advisoryId: Type.String({ maxLength: 64 }) }),
  body: PublishedAdvisory,
};

function advisoryRoutes(app: Api, { advisories, view }: ReadDeps): void {
  documentRoute(app, '/security/advisories.json', 'Security advisories', async (request) =>
    documentOf({ advisories: await advisories.seenBy(view(request).reader) }),
  );

  app.put('/v1/host/gantry/registry/advisories/:advisoryId', { schema: PUBLISH }, async (request, reply) => {
    // Advisories are published by the registry, not by one publisher.
    refuseMissingScope(callerOf(request), HOST_ADMIN);
    const { body } = request;
    if (body.id !== request.params.advisoryId) throw invalid('body/id differs from the id in the path.');
    const outcome = await advisories.publish(body);
    return reply.code(outcome === 'created' ? 201 : 200).send({ outcome, advisory: body });
  });
}

const SCHEMA = {
  summary: 'A schema of a pack, at the address in its `$id`',
  params: Type.Object({
    ...Version,
    schema: Type.String({ maxLength: 128, pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*\\.json$' }),
  }),
};

/**
 * Read from the archive, so it cannot differ from it. Schemas of yanked versions are not served; caches drop them
 * within minutes.
 */
function schemaRoute(app: Api, { view }: ReadDeps): void {
  app.get('/:name/:version/:schema', { schema: SCHEMA }, async (request, reply) => {
    const { name, version, schema } = request.params;
    const catalogue = view(request);
    const path = `schemas/${schema}`;
    const published = await catalogue.version(name, version);
    const isServed = published && !published.yank && published.files.includes(path);
    const bytes = isServed ? await catalogue.file(published, path) : undefined;
    if (bytes === undefined) throw new OpenwopError('not_found');
    return sendDocument(request, reply, textDocument(bytes.toString('utf8')));
  });
}
