/** Objects behind signed links: the link is the credential, and says what may be done with which object. */
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
  // A scope of its own: the body is whatever the object is, and is read as far as the link allows.
  app.register(async (scope: Api) => {
    // Fastify refuses a type that it cannot read before it asks any parser. Here it is only kept.
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
