/** One Fastify instance. Every route has the same checks: trace, key, scope, bounded body, closed error envelope. */

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { createTurns, type Turns } from '@gantry/limiter';
import { invalid, OpenwopError } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AccessRules } from './access.ts';
import { authenticate, authenticateIfPresent } from './auth.ts';
import { parseBody } from './body.ts';
import { createBodyTurns } from './body-turns.ts';
import type { BrowserSessions } from './browser-session.ts';
import {
  type Api,
  decorateRequests,
  knownCaller,
  setTraceparent,
  type TypeBoxProvider,
  traceparentOf,
} from './context.ts';
import { answerBrokenRequest, createErrorHandler, type Redact } from './errors.ts';
import { createHeldKeys, type HeldKeys } from './held-keys.ts';
import { Idempotency } from './idempotency.ts';
import { refuseUncheckedIfMatch } from './if-match.ts';
import { type AuditKey, keyUses } from './key-audit.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';
import { createRoutes, type Routes } from './routes.ts';
import { createTracer, parseTraceparent } from './trace.ts';
import { ignoreUnknownQuery, refuseQuery } from './unknown-query.ts';
import { validatorCompiler } from './validation.ts';

/** Signed tokens are the longest. */
const PARAM_LENGTH_MAX = 2_048;
/** Fastify has no limit by default: a client that sends a byte a minute would hold its connection. */
const REQUEST_ARRIVES_WITHIN_MS = 60_000;
const HEADERS_ARRIVE_WITHIN_MS = 10_000;
/** The interval of the check for overdue requests. */
const OVERDUE_LOOK_MS = 5_000;

export interface ServerOptions {
  readonly access: AccessRules;
  readonly store: Pick<Store, 'records' | 'commit'>;
  readonly maxRequestBodyBytes: number;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  /** Paths of the protocol whose capability this server lacks. Without `capability`, the path does not exist. */
  readonly unserved?: readonly { readonly path: RegExp; readonly capability?: string }[];
  /** Applied to errors before they are sent to a known caller. */
  readonly redact?: Redact;
  /** Where browsers may sign in. */
  readonly sessions?: BrowserSessions;
  /** A page for people at an address without a route; undefined if the request should get an error. */
  readonly page?: (request: FastifyRequest, reply: FastifyReply) => Promise<string> | undefined;
  /** Writes what happens to keys. */
  readonly audit?: AuditKey;
  /** Shared with other work on this thread. Default: the server's own. */
  readonly turns?: Turns;
}

export interface Server {
  readonly app: Api;
  readonly routes: Routes;
  readonly keys: KeyCache;
  readonly held: HeldKeys;
  readonly idempotency: Idempotency;
}

/** Routes are added to `app` afterwards. Each must have an access rule, or the server does not start. */
export function createServer(options: ServerOptions): Server {
  const { store, now, log, sessions, turns = createTurns() } = options;
  const app = createApp(options, turns);
  const routes = createRoutes(options.access);
  const keys = createKeyCache(store.records, now, { used: keyUses(options), sessions });
  const auth = { keys, turns, now, sessions };
  decorateRequests(app);
  traceRequests(app, options);
  logRequests(app, log);
  app.addHook('preClose', (done) => {
    // Connections answered during the close would be kept alive for more requests, for 72 s
    Object.assign(app.server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 });
    done();
  });
  app.addHook('onRoute', (route) => {
    const { access } = routes.add(route);
    if (access === 'token' || access === 'optional') route.onRequest = authenticateIfPresent(auth);
    else if (access !== 'public') {
      refuseQuery(route);
      route.onRequest = authenticate(auth, access);
    }
  });
  app.addHook('preValidation', ignoreUnknownQuery);
  app.addHook('preValidation', refuseUncheckedIfMatch);
  // Routes of the protocol require a key, even if they are not served
  const withKey = authenticate(auth, []);
  app.setNotFoundHandler(
    {
      preHandler: (request, reply, done) =>
        unservedBy(options, request) ? withKey.call(app, request, reply, done) : done(),
    },
    (request, reply) => {
      const page = options.page?.(request, reply);
      if (page !== undefined) return page;
      throw noRoute(options, routes, request);
    },
  );
  return { app, routes, keys, held: createHeldKeys(keys, now), idempotency: new Idempotency(store, now) };
}

/** Replaces Fastify's own compilers, which load all of Ajv. Compilers that are set later are used. */
const replaced = (): never => assert.fail('the compilers of schemas are set');

function createApp({ maxRequestBodyBytes, log, redact }: ServerOptions, turns: Turns): Api {
  const onError = createErrorHandler(log, redact);
  // Without a logger: Fastify would create a child for every request, for lines that are not used.
  const app = fastify({
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
    http: { headersTimeout: HEADERS_ARRIVE_WITHIN_MS, connectionsCheckingInterval: OVERDUE_LOOK_MS },
    bodyLimit: maxRequestBodyBytes,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    frameworkErrors: onError,
    schemaController: { compilersFactory: { buildValidator: replaced, buildSerializer: replaced } },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket as Socket),
  }).withTypeProvider<TypeBoxProvider>();
  app.setErrorHandler(onError);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  const bodies = createBodyTurns(app, turns, maxRequestBodyBytes);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const read = (gone?: Error): void => {
      if (gone) return void done(gone);
      try {
        done(null, parseBody(body as Buffer));
      } catch (error) {
        bodies.giveUp(request);
        done(error as Error);
      }
    };
    bodies.take(request, body.length, read);
  });
  return app;
}

function traceRequests(app: Api, { randomBytes }: ServerOptions): void {
  const nextTraceparent = createTracer(randomBytes);
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers;
    const own = nextTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
    setTraceparent(request, own);
    void reply.header('traceparent', own);
    done();
  });
}

function logRequests(app: Api, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  app.addHook('onResponse', (request, reply, done) => {
    log.debug(
      {
        requestId: parseTraceparent(traceparentOf(request))?.traceId,
        tenant: knownCaller(request)?.tenant,
        keyId: knownCaller(request)?.keyId,
        ...idsIn(request.params),
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
    done();
  });
}

/** Ids in the path, such as `runId`. */
const idsIn = (params: unknown): object =>
  Object.fromEntries(
    Object.entries(params ?? {}).filter(([name, id]) => name.endsWith('Id') && String(id).length <= 128),
  );

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]!;

const unservedBy = ({ unserved = [] }: ServerOptions, request: FastifyRequest) =>
  unserved.find(({ path }) => path.test(pathOf(request)));

/** Why no route matched the request: wrong method, unknown path, or a path outside the versioned API. */
function noRoute(options: ServerOptions, routes: Routes, request: FastifyRequest): OpenwopError {
  const path = pathOf(request);
  const absent = unservedBy(options, request);
  if (absent?.capability !== undefined)
    return new OpenwopError('capability_not_provided', { details: { capability: absent.capability } });
  const methods = routes.methodsOf(path);
  if (methods.length > 0) {
    return new OpenwopError('method_not_allowed', { headers: { allow: methods.join(', ') } });
  }
  if (path.startsWith('/v1/')) return new OpenwopError('not_found');
  return invalid('All operations are under `/v1/`; the discovery document is at `/.well-known/openwop`.');
}
