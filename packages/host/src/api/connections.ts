/** Connections: the routes for keys, and the pages on which a person authorizes a connection. */
import type { Api, Idempotency } from '@gantry/http';
import { connectionsWire, OpenwopError, oauthClientsWire } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ProblemFound } from '../oauth/authorizing.ts';
import { AUTHORIZE, type OAuth } from '../oauth/oauth.ts';
import { connectedPage, consentPage, failedPage, goingPage, problemPage } from '../oauth/pages.ts';
import { PAGE_HEADERS, refuseOtherSites } from '../page.ts';
import { IfMatch, matchingOf } from './resource-route.ts';
import { changed } from './resources.ts';

const CONNECTIONS = '/v1/host/gantry/connections';
const CLIENTS = '/v1/host/gantry/oauth-clients';

const Id = Type.String({ minLength: 1, maxLength: 128 });
const ProviderParams = Type.Object({ provider: Id });
const LinkParams = Type.Object({ link: Type.String({ minLength: 1, maxLength: 1_024 }) });

const CONFIGURE = {
  summary: oauthClientsWire.about,
  body: oauthClientsWire.input,
  response: { 200: oauthClientsWire.view },
};
const CONNECT = {
  summary: connectionsWire.about,
  body: connectionsWire.input,
  response: { 201: connectionsWire.created },
};
const DISCONNECT = {
  summary: 'End a connection: its tokens are deleted, and revoked at the provider where that can be done',
  params: Type.Object({ connectionId: Id }),
  headers: IfMatch,
  response: { 200: connectionsWire.view },
};
const ASK = { summary: 'The page on which a person authorizes a connection', params: LinkParams };
const CONSENT = { summary: 'Go on to the provider', params: LinkParams };
const CALLBACK = { summary: 'Where the provider sends the person back to', params: ProviderParams };

export function connectionRoutes(app: Api, oauth: OAuth, idempotency: Idempotency): void {
  const { clients, connections } = oauth;

  app.post(CLIENTS, { schema: CONFIGURE }, (request, reply) =>
    changed(request, reply, idempotency, (caller) => clients.configure(caller, request.body), clients.digest),
  );
  app.post(CONNECTIONS, { schema: CONNECT }, (request, reply) =>
    changed(request, reply.code(201), idempotency, (caller) => connections.connect(caller, request.body)),
  );
  app.delete(`${CONNECTIONS}/:connectionId(^[^:/]+)`, { schema: DISCONNECT }, (request, reply) =>
    changed(request, reply, idempotency, (caller) =>
      connections.disconnect(caller, request.params.connectionId, matchingOf(request)),
    ),
  );
  // A separate scope: no other route accepts forms
  app.register(async (scope: Api) => pageRoutes(scope, oauth));
}

const COOKIE_SECONDS = 600;

const cookieName = (id: string): string => `gantry-authorize-${id}`;

function cookieIn({ headers: { cookie = '' } }: FastifyRequest, id: string): string | undefined {
  const start = `${cookieName(id)}=`;
  const found = cookie.split('; ').find((pair) => pair.startsWith(start));
  return found?.slice(start.length);
}

function pageRoutes(app: Api, { authorizing, connections, urlOf }: OAuth): void {
  // The form has no fields, so the body is ignored
  app.addContentTypeParser('application/x-www-form-urlencoded', { bodyLimit: 1_024 }, async () => null);

  function setCookie(reply: FastifyReply, id: string, value: string, seconds: number): void {
    const { protocol, pathname } = new URL(urlOf(AUTHORIZE));
    const secure = protocol === 'https:' ? '; Secure' : '';
    const terms = `Path=${pathname}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
    void reply.header('set-cookie', `${cookieName(id)}=${value}; ${terms}`);
  }

  app.get(`${AUTHORIZE}/:link`, { schema: ASK }, (request, reply) =>
    answered(reply, async () => {
      const asked = await authorizing.asked(request.params.link);
      if ('problem' in asked) return asked;
      const cookie = authorizing.cookieFor(asked.id, cookieIn(request, asked.id));
      setCookie(reply, asked.id, cookie, COOKIE_SECONDS);
      return consentPage(asked.view);
    }),
  );

  app.post(`${AUTHORIZE}/:link`, { schema: CONSENT }, (request, reply) =>
    answered(reply, async () => {
      refuseOtherSites(request);
      const gone = await authorizing.consented(request.params.link, (id) => cookieIn(request, id));
      return 'problem' in gone ? gone : goingPage(gone.displayName, gone.url);
    }),
  );

  app.get(`${AUTHORIZE}/callback/:provider`, { schema: CALLBACK }, (request, reply) =>
    answered(reply, async () => {
      const { searchParams } = new URL(request.url, 'http://unused.invalid');
      let named = '';
      const finished = await connections.finish(request.params.provider, searchParams, (id) => {
        named = id;
        return cookieIn(request, id);
      });
      if ('problem' in finished) return finished;
      setCookie(reply, named, '', 0);
      if (finished.kind === 'connected') return connectedPage(finished.displayName, finished.connectionId);
      void reply.code(REFUSED);
      return failedPage(finished.message);
    }),
  );
}

const REFUSED = 400;

/** These answers are read by people, so errors are pages instead of error envelopes. */
async function answered(reply: FastifyReply, make: () => Promise<string | ProblemFound>): Promise<string> {
  void reply.headers(PAGE_HEADERS);
  try {
    const made = await make();
    if (typeof made === 'string') return made;
    void reply.code(REFUSED);
    return problemPage(made.problem);
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    void reply.code(error.status || REFUSED);
    return failedPage(error.message);
  }
}
