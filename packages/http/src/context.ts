/** The state of a request. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Owner } from '@gantry/protocol';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { Static, TSchema } from 'typebox';

/** Derives the types of handlers from the TypeBox schemas of their route. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxProvider
>;

/** The sender of a request. Created once per key and shared by its requests. */
export interface Caller extends Owner {
  readonly keyId: string;
  /** Whoever acts. Keys change by rotation, their principal stays. */
  readonly principal: string;
  readonly scopes: ReadonlySet<string>;
}

interface ApiRequest extends FastifyRequest {
  caller: Caller | null;
  /** By which the cache of keys knows the key or the session; null without one. */
  credential: string | null;
  traceparent: string;
}

/** `decorateRequest` gives every request these fields, so that its shape never changes. */
export function decorateRequests(app: Api): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('credential', null);
  app.decorateRequest('traceparent', '');
}

const own = (request: unknown): ApiRequest => request as ApiRequest;

export function setCaller(request: unknown, caller: Caller): void {
  own(request).caller = caller;
}

export function setCredential(request: unknown, credential: string): void {
  own(request).credential = credential;
}

export const credentialOf = (request: unknown): string | null => own(request).credential;

/** The caller of a public route is null. */
export const knownCaller = (request: unknown): Caller | null => own(request).caller;

export function callerOf(request: unknown): Caller {
  const { caller } = own(request);
  if (caller === null) throw new Error('a route that needs a caller was reached without one');
  return caller;
}

export function setTraceparent(request: unknown, traceparent: string): void {
  own(request).traceparent = traceparent;
}

export const traceparentOf = (request: unknown): string => own(request).traceparent;
