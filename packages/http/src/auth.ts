/** Authentication and scopes, checked before anything else of a request. */

import type { Turns } from '@gantry/limiter';
import { OpenwopError } from '@gantry/protocol';
import type { KeyRecord } from '@gantry/store';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { type BrowserSessions, sessionCredential, sessionOf } from './browser-session.ts';
import { setCaller, setCredential } from './context.ts';
import type { CachedKey, KeyCache } from './key-cache.ts';
import { hashSecret } from './key-secret.ts';

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The secret in an `Authorization` header; null if there is none. */
export const bearerSecret = (header: string | undefined): string | null =>
  (header !== undefined && BEARER.exec(header)?.[1]) || null;

export function unauthenticated(): OpenwopError {
  return new OpenwopError('unauthenticated', { headers: { 'www-authenticate': 'Bearer' } });
}

type Ends = Pick<KeyRecord, 'revokedAt' | 'expiresAt'>;

/** Why nobody may act with this key any longer; null if it is valid. */
export function ended({ revokedAt, expiresAt }: Ends, now: number): OpenwopError | null {
  if (revokedAt !== null) return new OpenwopError('key_revoked');
  return expiresAt !== null && expiresAt <= now ? new OpenwopError('key_expired') : null;
}

export const isLiveKey = (key: Ends, now: number): boolean => ended(key, now) === null;

/** Why a request with this key, or a session that stands for it, is not accepted any longer. */
export function endOf(key: CachedKey | null, now: number): OpenwopError | null {
  if (key === null || (key.sessionEndsAt ?? Number.POSITIVE_INFINITY) <= now) return unauthenticated();
  return ended(key.record, now);
}

/** Why this key may not call an operation that needs `scopes`; null if it may. */
function refusal(key: CachedKey | null, scopes: readonly string[], now: number): OpenwopError | null {
  const end = endOf(key, now);
  if (end || key === null) return end;
  for (const scope of scopes) {
    if (!key.caller.scopes.has(scope)) {
      return new OpenwopError('forbidden', { details: { scopeRequired: scope } });
    }
  }
  return null;
}

export type Authenticate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => void;

export interface AuthOptions {
  readonly keys: KeyCache;
  /** An admitted request continues in a turn of its tenant. */
  readonly turns: Turns;
  readonly now: () => number;
  readonly sessions?: BrowserSessions | undefined;
}

/** For routes that need no key, or whose path is the credential: a key that is sent must be valid. */
export function authenticateIfPresent(options: AuthOptions): Authenticate {
  const withKey = authenticate(options, []);
  return (request, reply, done) => {
    if (request.headers.authorization === undefined) done();
    else withKey(request, reply, done);
  };
}

interface HashedHeader {
  readonly authorization: string;
  readonly hash: string | null;
}

const hashedHeaders = new WeakMap<object, HashedHeader>();

/** A connection usually sends one key, so it is hashed once. */
function secretHashOf({ headers, socket }: FastifyRequest): string | null {
  const { authorization } = headers;
  if (authorization === undefined) return null;
  const known = hashedHeaders.get(socket);
  if (known?.authorization === authorization) return known.hash;
  const secret = bearerSecret(authorization);
  const hash = secret === null ? null : hashSecret(secret);
  hashedHeaders.set(socket, { authorization, hash });
  return hash;
}

/** The key or the session of a request: the only place that knows how requests name them. */
function readCredential(request: FastifyRequest, sessions?: BrowserSessions): string | OpenwopError | null {
  if (request.headers.authorization !== undefined || !sessions) return secretHashOf(request);
  const session = sessionOf(request, sessions);
  return session === null || session instanceof OpenwopError ? session : sessionCredential(session);
}

/** The hook of one route. It takes a callback, not a promise: a cached key costs no extra asynchronous step. */
export function authenticate(options: AuthOptions, scopes: readonly string[]): Authenticate {
  const { keys, turns, now, sessions } = options;
  const admit = (request: FastifyRequest, key: CachedKey | null, done: HookHandlerDoneFunction): void => {
    const refused = refusal(key, scopes, now());
    if (refused !== null || key === null) {
      done(refused ?? undefined);
      return;
    }
    setCaller(request, key.caller);
    void turns.take(key.caller.tenant, () => done());
  };
  return (request, _reply, done) => {
    const credential = readCredential(request, sessions);
    if (credential instanceof OpenwopError) return void done(credential);
    if (credential === null) return admit(request, null, done);
    setCredential(request, credential);
    const key = keys.recall(credential);
    if (key !== undefined) admit(request, key, done);
    else keys.load(credential).then((loaded) => admit(request, loaded, done), done);
  };
}
