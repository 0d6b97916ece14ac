/** Objects behind signed links. The link is the credential; it names the object and the permitted operation. */
import type { Readable } from 'node:stream';
import type { Api } from '@gantry/http';
import { LINK_ROOT } from '@gantry/surfaces';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Surfaces } from '../surfaces/surfaces.ts';

const bytes = { 200: Type.String({ format: 'binary' }) };
const READ = { summary: 'Read an object by its link', response: bytes };
const NOTHING = Buffer.alloc(0);
const WRITE = { summary: 'Write an object by its link', response: bytes };

export function blobLinkRoutes(
  app: Api,
  { servePresigned }: Pick<Surfaces, 'servePresigned'>,
  now: () => number,
): void {
  const types = new WeakMap<FastifyRequest, string>();
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { method, raw, body } = request;
    const contentType = types.get(request);
    const answer = await servePresigned({
      method,
      url: raw.url ?? '',
      now: now(),
      ...(contentType !== undefined && { contentType }),
      body: (body as Readable | undefined) ?? nothing(),
    });
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .send(answer.body ?? NOTHING);
  };
  // A separate scope: the body has the type of the object, and is read up to the limit of the link.
  app.register(async (scope: Api) => {
    // Fastify rejects an unknown content type before it calls any parser. Here the type is only stored.
    scope.addHook('onRequest', (request, _reply, done) => {
      const { 'content-type': type } = request.headers;
      if (type !== undefined) types.set(request, type);
      delete request.headers['content-type'];
      done();
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable, done) =>
      done(null, payload),
    );
    scope.get(`${LINK_ROOT}*`, { schema: READ }, serve);
    scope.put(`${LINK_ROOT}*`, { schema: WRITE }, serve);
  });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
