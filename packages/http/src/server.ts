/** One Fastify instance, every route behind the same doors: trace, key, scope, bounded body, closed error envelope. */

import type { Socket } from 'node:net';
import type { Store } from '@gantry/store';
import fastify from 'fastify';
import type { Logger } from 'pino';
import type { AccessRules } from './access.ts';
import { authenticate, authenticateIfPresent } from './auth.ts';
import { parseBody } from './body.ts';
import { type Api, decorateRequests, knownCaller, setTraceparent, type TypeBoxProvider } from './context.ts';
import { answerBrokenRequest, createErrorHandler } from './errors.ts';
import { Idempotency } from './idempotency.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';
import { noRoute } from './not-found.ts';
import { createRoutes, type Routes } from './routes.ts';
import { createTracer } from './trace.ts';
import { validatorCompiler } from './validation.ts';

/** Signed tokens are the longest. */
const PARAM_LENGTH_MAX = 2_048;
/** Fastify's default is forever: a client that sends a byte a minute would hold its connection. */
const REQUEST_ARRIVES_WITHIN_MS = 60_000;

export interface ServerOptions {
  readonly access: AccessRules;
  readonly store: Pick<Store, 'records' | 'commit'>;
  readonly maxRequestBodyBytes: number;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

export interface Server {
  readonly app: Api;
  readonly routes: Routes;
  readonly keys: KeyCache;
  readonly idempotency: Idempotency;
}

/** Routes are added to `app` afterwards; each gets its access rule then, or the server does not start. */
export function createServer(options: ServerOptions): Server {
  const { store, now, log } = options;
  const app = createApp(options);
  const routes = createRoutes(options.access);
  const keys = createKeyCache(store.records, now);
  decorateRequests(app);
  traceRequests(app, options);
  logRequests(app, log);
  app.addHook('onRoute', (route) => {
    const { access } = routes.add(route);
    if (access === 'token') route.onRequest = authenticateIfPresent(keys, now);
    else if (access !== 'public') route.onRequest = authenticate(keys, now, access);
  });
  app.setNotFoundHandler((request) => {
    throw noRoute(routes, request);
  });
  return { app, routes, keys, idempotency: new Idempotency(store, now) };
}

function createApp({ maxRequestBodyBytes, log }: ServerOptions): Api {
  const onError = createErrorHandler(log);
  // Fastify gets no logger: it would make a child for every request, for lines that nobody reads.
  const app = fastify({
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
    bodyLimit: maxRequestBodyBytes,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    frameworkErrors: onError,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket as Socket),
  }).withTypeProvider<TypeBoxProvider>();
  app.setErrorHandler(onError);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
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
        keyId: knownCaller(request)?.keyId,
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
