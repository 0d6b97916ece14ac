/** The web pages. */
import { type Api, notModified, readPayload } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import { exposures, PACK_KINDS, type PackKind } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import type { CatalogueView } from '../catalogue/reader.ts';
import { RevisionCache } from '../catalogue/revision-cache.ts';
import type { PublishedAdvisory } from '../derived/advisory.ts';
import { type Document, textDocument } from '../derived/document.ts';
import { isCursor, type SearchQuery } from '../derived/search.ts';
import type { Html } from '../pages/html.ts';
import { CONTENT_SECURITY_POLICY, ICON, missingPage, STYLE, STYLE_PATH } from '../pages/layout.ts';
import { readPackFiles } from '../pages/pack-files.ts';
import { packPage } from '../pages/pack-page.ts';
import { searchPage } from '../pages/search-page.ts';
import { QUERY_CHARS_MAX, type ReadDeps } from './read-routes.ts';

const RESULTS = 20;
const PAGE_SECONDS = 60;
const CACHE_CHARS_MAX = 32 * 1024 * 1024;
/** Rendering a page unpacks an archive. */
const MADE_AT_ONCE_MAX = 2;

const SEARCH = {
  summary: 'Search packs, as a page',
  // Users edit addresses by hand, and the form sends an empty kind, so invalid values are ignored.
  querystring: Type.Object({
    q: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    cursor: Type.Optional(Type.String()),
  }),
};
const PACK = {
  summary: 'Contents and permissions of a pack, as a page',
  params: Type.Object({
    name: Type.String({ maxLength: 256 }),
    version: Type.Optional(Type.String({ maxLength: 128 })),
  }),
};
const ASSET = {
  summary: 'Style and icon of the pages',
  params: Type.Object({ file: Type.String({ maxLength: 64 }) }),
};

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Document,
): Promise<string | Buffer | undefined> {
  void reply
    .header('cache-control', `public, max-age=${PAGE_SECONDS}`)
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer');
  if (notModified(request, reply, page.etag)) return undefined;
  const payload = await readPayload(request, reply, page.text);
  void reply.type('text/html; charset=utf-8');
  return payload;
}

const pageOf = ({ markup }: Html): Document => textDocument(markup);

const isKind = (kind: string | undefined): kind is PackKind =>
  kind !== undefined && Object.hasOwn(PACK_KINDS, kind);

export function pageRoutes(app: Api, deps: ReadDeps): void {
  app.get('/', { schema: SEARCH }, async (request, reply) => {
    const { q = '', kind, cursor } = request.query;
    const asked = {
      q: q.slice(0, QUERY_CHARS_MAX),
      ...(isKind(kind) && { kind }),
      ...(cursor !== undefined && isCursor(cursor) && { cursor }),
    };
    return sendPage(request, reply, pageOf(await searchView(deps, deps.view(request), asked)));
  });
  packRoutes(app, deps);
  assetRoutes(app);
}

async function searchView(
  { profile, search }: ReadDeps,
  catalogue: CatalogueView,
  asked: Omit<SearchQuery, 'limit'>,
): Promise<Html> {
  const answer = search(catalogue, { ...asked, limit: RESULTS });
  const versions = new Map<string, PublishedVersion>();
  await Promise.all(
    answer.results.map(async ({ name, latest }) => {
      const version = await catalogue.version(name, latest);
      if (version !== undefined) versions.set(name, version);
    }),
  );
  return searchPage({ profile, asked, answer, versions });
}

function packRoutes(app: Api, deps: ReadDeps): void {
  const { profile } = deps;
  const cache = new RevisionCache<Document>(CACHE_CHARS_MAX, ({ text }) => text.length);
  const slots = limiter({ max: MADE_AT_ONCE_MAX });
  for (const url of ['/packs/:name', '/packs/:name/:version']) {
    app.get(url, { schema: PACK }, async (request, reply) => {
      const { name, version: wanted } = request.params;
      const catalogue = deps.view(request);
      const summary = catalogue.summary(name);
      const version = summary && (await catalogue.version(name, wanted ?? summary.latest));
      if (summary === undefined || version === undefined) {
        void reply.code(404);
        return sendPage(
          request,
          reply,
          pageOf(missingPage(profile, wanted === undefined ? name : `${name}@${wanted}`)),
        );
      }
      const advisories = (await deps.advisories.seenBy(catalogue.reader)).filter(
        (advisory) => exposures(version, [advisory]).length > 0,
      );
      const key = JSON.stringify([name, version.version, advisories]);
      const make = () => slots.run('', () => packDocument(deps, catalogue, { summary, version, advisories }));
      return sendPage(request, reply, await cache.get(key, catalogue.revision, make));
    });
  }
}

interface ShownPack {
  readonly summary: PackSummary;
  readonly version: PublishedVersion;
  readonly advisories: readonly PublishedAdvisory[];
}

/** The same for every reader that sees the pack. */
async function packDocument(
  { profile, directory }: ReadDeps,
  catalogue: CatalogueView,
  { summary, version, advisories }: ShownPack,
): Promise<Document> {
  const [versions, files] = await Promise.all([
    catalogue.versions(version.name),
    readPackFiles(catalogue, version),
  ]);
  const signingKey = directory
    .signingKeys(catalogue.reader)
    .find(({ keyId }) => keyId === version.signing.keyId);
  return pageOf(packPage({ profile, summary, version, versions, files, signingKey, advisories }));
}

/** The name of the style contains its hash, so caches may keep it. */
function assetRoutes(app: Api): void {
  const files: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
    [STYLE_PATH]: { type: 'text/css; charset=utf-8', text: STYLE },
    '/assets/icon.svg': { type: 'image/svg+xml', text: ICON },
  };
  app.get('/assets/:file', { schema: ASSET }, (request, reply) => {
    const path = `/assets/${request.params.file}`;
    const asset = Object.hasOwn(files, path) ? files[path] : undefined;
    if (asset === undefined) throw new OpenwopError('not_found');
    return reply
      .header(
        'cache-control',
        `public, max-age=${path === STYLE_PATH ? '31536000, immutable' : PAGE_SECONDS}`,
      )
      .header('x-content-type-options', 'nosniff')
      .type(asset.type)
      .send(asset.text);
  });
}
