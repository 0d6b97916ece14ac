import { Readable } from 'node:stream';
import { type Api, callerOf, parseBody } from '@gantry/http';
import { invalid, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import type { StoreCatalogue } from '../catalogue/store-catalogue.ts';
import type { Publisher, PublishRequest } from '../publish/publish.ts';
import { VersionParams, versionManifest } from './pack-metadata.ts';

const ARCHIVE_TYPES = new Set([
  '',
  'application/gzip',
  'application/x-gzip',
  'application/octet-stream',
  'application/tar+gzip',
]);
const BUILD_LENGTH_MAX = 2_048;
const SIGNATURE_LENGTH_MAX = 128;

const PUBLISH = { summary: 'Publish a version of a pack', params: VersionParams };

export function publishRoute(app: Api, catalogue: StoreCatalogue, publisher: Publisher): void {
  // A Fastify scope in which bodies stay streams.
  app.register(async (scope: Api) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    // The examples of the protocol send it to the address of the version
    for (const address of [':version.tgz', ':version'])
      scope.put(`/v1/${catalogue.name}/:name/-/${address}`, { schema: PUBLISH }, async (request, reply) => {
        try {
          const { outcome, published } = await publisher.publish(
            catalogue,
            publishRequest(request, request.params),
          );
          return await reply
            .code(outcome === 'created' ? 201 : 200)
            .header('location', `/v1/${catalogue.name}/${published.name}/-/${published.version}.json`)
            .send(versionManifest(catalogue.name, published));
        } finally {
          // A client that is still sending reads no response, so the rest of a refused body is discarded.
          request.raw.resume();
        }
      });
  });
}

function publishRequest(
  request: FastifyRequest,
  { name, version }: { readonly name: string; readonly version: string },
): PublishRequest {
  const { headers } = request;
  return {
    name,
    version,
    caller: callerOf(request),
    body: archiveOf(request),
    claimedIntegrity: headerOf(headers['x-pack-sha256']),
    claimedMethod: headerOf(headers['x-pack-signing-method']),
    detachedSignature: signatureOf(headerOf(headers['x-pack-signature'])),
    userAgent: headers['user-agent'],
    build: buildOf(headerOf(headers['x-pack-build'])),
  };
}

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

/** Undefined if the content type cannot be an archive. */
function archiveOf({ headers, body }: FastifyRequest): AsyncIterable<Uint8Array> | undefined {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (!ARCHIVE_TYPES.has(type)) return undefined;
  return body instanceof Readable ? chunksOf(body) : undefined;
}

/** Leaves the stream open when reading stops early: the response uses the same connection. */
async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false });
  } catch {
    throw new OpenwopError('invalid_body', { message: 'The body is incomplete. Send it again.' });
  }
}

function signatureOf(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  if (text.length <= SIGNATURE_LENGTH_MAX && /^[A-Za-z0-9+/]+=*$/.test(text))
    return Buffer.from(text, 'base64');
  throw new OpenwopError('signature_invalid', { message: 'X-Pack-Signature must be a signature in base64.' });
}

/** `X-Pack-Build`: a small JSON object about the build, kept with the version. */
function buildOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  const value = text.length > BUILD_LENGTH_MAX ? undefined : parseBody(Buffer.from(text, 'latin1'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid(`X-Pack-Build must be a JSON object of at most ${BUILD_LENGTH_MAX} characters.`);
}
