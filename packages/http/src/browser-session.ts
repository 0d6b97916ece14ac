/**
 * Sessions of browsers: a cookie stands for a key.
 *
 * B1  The cookie is random, only for this host and port, and never readable by scripts.
 * B2  A change needs the origin of our own pages and a header that other pages cannot send. A read by another page
 *     is not authenticated.
 * B3  A request with a key is judged by its key alone.
 */
import { OpenwopError } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSecret } from './key-secret.ts';

/** What the sessions of a server are, for authentication. */
export interface BrowserSessions {
  /** The address under which browsers know this server. */
  readonly originOf: (request: FastifyRequest) => string;
  /** The key that a session stands for; null if there is no such session. */
  find(session: SessionId): Promise<FoundSession | null>;
}

export interface SessionId {
  readonly tenant: string;
  /** Of the secret in the cookie. */
  readonly hash: string;
}

export interface FoundSession {
  readonly keyHash: string;
  readonly endsAt: number;
}

/** The header that the console sends with every change. */
const CONSOLE_HEADER = 'x-gantry-console';
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** How a browser says that another page is asking. */
const FOREIGN: ReadonlySet<unknown> = new Set(['cross-site', 'same-site']);
const VALUE = /^([\w-]{43})\.([\w.~-]{1,80})$/;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Cookies do not know ports, so the name does. */
function cookieName({ protocol, port }: URL): string {
  const prefix = protocol === 'https:' ? '__Host-' : '';
  return `${prefix}gantry-session-${port || DEFAULT_PORTS[protocol]}`;
}

export const sessionIdOf = (value: string): SessionId | null => {
  const [, secret, tenant] = VALUE.exec(value) ?? [];
  return secret === undefined || tenant === undefined ? null : { tenant, hash: hashSecret(secret) };
};

export const sessionValue = (secret: Uint8Array, tenant: string): string =>
  `${Buffer.from(secret).toString('base64url')}.${tenant}`;

const SESSION = 'session:';

/** Sessions are in the same cache as keys, so that a session ends with its key everywhere at the same time. */
export const sessionCredential = ({ tenant, hash }: SessionId): string => `${SESSION}${tenant}:${hash}`;

/** Null for the credential of a key. */
export function sessionIn(credential: string): SessionId | null {
  if (!credential.startsWith(SESSION)) return null;
  const [tenant = '', hash = ''] = credential.slice(SESSION.length).split(':');
  return { tenant, hash };
}

/** The session of a request; null if it has none, and an error if it may not use it. */
export function sessionOf(
  request: FastifyRequest,
  { originOf }: BrowserSessions,
): SessionId | OpenwopError | null {
  const { cookie, 'sec-fetch-site': site } = request.headers;
  if (cookie === undefined || FOREIGN.has(site)) return null;
  const origin = originOf(request);
  if (!URL.canParse(origin)) return null;
  const start = `${cookieName(new URL(origin))}=`;
  const found = cookie.split('; ').find((pair) => pair.startsWith(start));
  const session = found === undefined ? null : sessionIdOf(found.slice(start.length));
  if (session === null || SAFE_METHODS.has(request.method)) return session;
  return foreignPage(request, origin) ?? session;
}

/** Why a change may not come from this page; null if the page is ours. */
export function foreignPage({ headers }: FastifyRequest, origin: string): OpenwopError | null {
  const own = new URL(origin).origin;
  if (headers.origin === own && headers[CONSOLE_HEADER] !== undefined) return null;
  return new OpenwopError('forbidden', {
    message: `Sessions are for the console at ${own} only. Open it there, or send an API key.`,
  });
}

/** `value` null: the browser forgets it. */
export function setSessionCookie(
  reply: FastifyReply,
  origin: string,
  value: string | null,
  seconds = 0,
): void {
  const url = new URL(origin);
  const secure = url.protocol === 'https:' ? '; Secure' : '';
  const terms = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  void reply.header('set-cookie', `${cookieName(url)}=${value ?? ''}; ${terms}`);
}
