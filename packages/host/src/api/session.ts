/** Signing in and out with a browser, and who is asking. */
import {
  type Api,
  type BrowserSessions,
  type CachedKey,
  credentialOf,
  endOf,
  foreignPage,
  hashSecret,
  type KeyCache,
  type SessionId,
  sessionOf,
  setSessionCookie,
} from '@gantry/http';
import {
  isoTime,
  OpenwopError,
  SignInLink,
  SignInLinkRequest,
  SignInRequest,
  WhoAmI,
} from '@gantry/protocol';
import type { KeyRecord } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Begun, LIFETIME_MS } from '../console/sessions.ts';
import type { ApiDeps } from './context.ts';

const URL_ = '/v1/host/gantry/session';

const SIGN_IN = {
  summary: 'Sign in a browser, with a key or the code of a link',
  body: SignInRequest,
  response: { 201: WhoAmI },
};
const WHO = { summary: 'The key or the session of this request', response: { 200: WhoAmI } };
const SIGN_OUT = { summary: 'End the session of this request', response: { 204: Type.Null() } };
const LINK = {
  summary: 'Make a link that signs in once, as the key of this request',
  body: SignInLinkRequest,
  response: { 201: SignInLink },
};

/** One text for every reason: a guess learns nothing. */
const refused = (): OpenwopError =>
  new OpenwopError('unauthenticated', {
    message: 'This key or link is not valid. A link works once, for 10 minutes; `gantry open` makes another.',
  });

const who = (key: KeyRecord, via: WhoAmI['via'], endsAt: number | null, now: number): WhoAmI => ({
  keyId: key.keyId,
  name: key.name,
  tenant: key.tenant,
  workspace: key.workspace,
  principal: key.principal,
  scopes: [...key.scopes],
  via,
  ...(endsAt !== null && { expiresAt: isoTime(endsAt) }),
  now: isoTime(now),
});

export function sessionRoutes(app: Api, deps: ApiDeps, keys: KeyCache): void {
  const { now, originOf } = deps;
  const { sessions } = deps.services;

  const keyOf = async (credential: string) => keys.recall(credential) ?? (await keys.load(credential));

  /** That of the request, which may have ended since it was authenticated. */
  async function ownKey(request: FastifyRequest): Promise<CachedKey> {
    const found = await keyOf(credentialOf(request)!);
    if (found === null || endOf(found, now())) throw refused();
    return found;
  }

  async function signedIn(asked: SignInRequest): Promise<{ key: KeyRecord; begun: Begun } | null> {
    if ('code' in asked) return sessions.redeem(asked.code);
    const found = await keyOf(hashSecret(asked.key));
    if (found === null || endOf(found, now())) return null;
    return { key: found.record, begun: await sessions.begin(found.record) };
  }

  app.post(URL_, { schema: SIGN_IN }, async (request, reply) => {
    const origin = originOf(request);
    const foreign = foreignPage(request, origin);
    if (foreign) throw foreign;
    const found = await signedIn(request.body);
    if (found === null) throw refused();
    const { key, begun } = found;
    setSessionCookie(reply, origin, begun.value, LIFETIME_MS / 1_000);
    return reply
      .code(201)
      .send(who(key, 'session', Math.min(begun.endsAt, key.expiresAt ?? begun.endsAt), now()));
  });

  app.get(URL_, { schema: WHO }, async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const { record, sessionEndsAt } = await ownKey(request);
    const ends = [record.expiresAt, sessionEndsAt].filter((at) => typeof at === 'number');
    const endsAt = ends.length > 0 ? Math.min(...ends) : null;
    return who(record, sessionEndsAt === undefined ? 'key' : 'session', endsAt, now());
  });

  app.delete(URL_, { schema: SIGN_OUT }, async (request, reply) => {
    const session = ownSession(request, { originOf, find: sessions.find });
    if (session) {
      await sessions.end(session);
      keys.clear();
      setSessionCookie(reply, originOf(request), null);
    }
    return reply.code(204).send();
  });

  app.post(`${URL_}/links`, { schema: LINK }, async (request, reply) => {
    const { record } = await ownKey(request);
    const { value: code, endsAt } = await sessions.link(record);
    const url = signInUrl(originOf(request), code, request.body.to);
    return reply.code(201).send({ code, url, expiresAt: isoTime(endsAt) });
  });
}

/** A request with a key has none, whatever cookies it carries. */
function ownSession(request: FastifyRequest, sessions: BrowserSessions): SessionId | null {
  if (request.headers.authorization !== undefined) return null;
  const session = sessionOf(request, sessions);
  return session instanceof OpenwopError ? null : session;
}

/** Browsers send the fragment to nobody, so the code is in no log. */
export const signInUrl = (origin: string, code: string, to?: string): string =>
  `${origin.replace(/\/+$/, '')}/sign-in${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}#${code}`;
