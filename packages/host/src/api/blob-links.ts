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
  const serve = async ({ method, raw, headers, body }: FastifyRequest, reply: FastifyReply) => {
    const contentType = headers['content-type'];
    const answer = await servePresigned({
      ...{ method, url: raw.url ?? '', now: now() },
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
    scope.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable, done) =>
      done(null, payload),
    );
    scope.get(`${LINK_ROOT}*`, { schema: READ }, serve);
    scope.put(`${LINK_ROOT}*`, { schema: WRITE }, serve);
  });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
