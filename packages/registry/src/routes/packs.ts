/** Published packs: metadata, manifests, archives, signatures. A private pack needs a key. */
import { type Api, notModified } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PublishedVersion } from '../catalogue/catalogue.ts';
import type { CatalogueView } from '../catalogue/reader.ts';
import type { StoreCatalogue } from '../catalogue/store-catalogue.ts';
import { type Document, documentOf, sendDocument } from '../derived/document.ts';
import { checkName } from '../publish/address.ts';
import {
  hasSignature,
  NameParams,
  packMetadata,
  publishedAt,
  VersionParams,
  versionManifest,
} from './pack-metadata.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';

interface PackReadDeps extends Pick<StoreCatalogue, 'name' | 'openArchive'> {
  readonly view: (request: FastifyRequest) => CatalogueView;
  readonly publicUrl: () => string;
}

export function packReadRoutes(app: Api, deps: PackReadDeps): void {
  const { view } = deps;
  const base = `/v1/${deps.name}/:name`;
  const metadata = metadataOf(deps);
  for (const url of [base, `${base}/index.json`])
    app.get(
      url,
      { schema: { summary: 'A pack with all its versions', params: NameParams } },
      async (request, reply) => {
        openToAll(reply);
        return sendDocument(request, reply, await metadata(view(request), request.params.name));
      },
    );

  const manifests = remembered((published: PublishedVersion) =>
    documentOf(versionManifest(deps.name, published)),
  );
  const manifestSchema = { summary: 'The manifest of a version', params: VersionParams };
  app.get(`${base}/-/:version.json`, { schema: manifestSchema }, async (request, reply) => {
    openToAll(reply);
    return sendDocument(request, reply, manifests(await publishedAt(view(request), request.params)));
  });

  archiveRoutes(app, deps);
  signatureRoute(app, deps);
}

const openToAll = (reply: FastifyReply): void =>
  void reply
    .header('access-control-allow-origin', '*')
    .header('access-control-expose-headers', 'ETag, Content-Length');

/** One document per source object, kept as long as the object. */
function remembered<K extends object>(make: (from: K) => Document): (from: K) => Document {
  const made = new WeakMap<K, Document>();
  return (from) => {
    const known = made.get(from) ?? make(from);
    made.set(from, known);
    return known;
  };
}

function metadataOf({ name: catalogue, publicUrl }: PackReadDeps) {
  const documents = remembered((versions: readonly PublishedVersion[]) =>
    documentOf(packMetadata(catalogue, publicUrl(), versions)),
  );
  return async (view: CatalogueView, name: string): Promise<Document> => {
    checkName(name);
    const versions = await view.versions(name);
    if (versions.length === 0)
      throw new OpenwopError('not_found', { message: `There is no pack ${name} in this registry.` });
    return documents(versions);
  };
}

/** Yanked versions are still served, for exact pins and for analysis. */
function archiveRoutes(app: Api, { name, view, openArchive }: PackReadDeps): void {
  const url = `/v1/${name}/:name/-/:version.tgz`;
  const schema = { summary: 'The archive of a version', params: VersionParams };
  const headers = (request: FastifyRequest, reply: FastifyReply, published: PublishedVersion): boolean => {
    void reply
      .type('application/tar+gzip')
      .header('cache-control', IMMUTABLE)
      .header('content-length', published.archiveBytes);
    if (!notModified(request, reply, `"${published.integrity}"`)) return false;
    void reply.removeHeader('content-length');
    return true;
  };

  app.get(url, { schema }, async (request, reply) => {
    openToAll(reply);
    const published = await publishedAt(view(request), request.params);
    // Opened before the headers are set, so that a read error becomes an error response.
    const archive = await openArchive(published);
    if (!headers(request, reply, published)) return reply.send(archive);
    archive.destroy();
    return reply.send();
  });
  app.head(url, { schema }, async (request, reply) => {
    openToAll(reply);
    headers(request, reply, await publishedAt(view(request), request.params));
    return reply.send();
  });
}

/** Missing, unsigned and yanked give the same response: a yanked version must not verify. */
function signatureRoute(app: Api, { name, view }: PackReadDeps): void {
  const schema = { summary: 'The detached signature of a version', params: VersionParams };
  app.get(`/v1/${name}/:name/-/:version.sig`, { schema }, async (request, reply) => {
    openToAll(reply);
    const published = await publishedAt(view(request), request.params).catch((error: unknown) => {
      if (error instanceof OpenwopError && error.code === 'not_found') return undefined;
      throw error;
    });
    if (published?.signature === undefined || !hasSignature(published))
      throw new OpenwopError('signature_not_available');
    return reply
      .type('application/octet-stream')
      .header('cache-control', IMMUTABLE)
      .send(Buffer.from(published.signature, 'base64'));
  });
}
