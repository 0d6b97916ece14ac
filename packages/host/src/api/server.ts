/** The HTTP face of the host: one Fastify instance, every route behind the same doors. */

import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { ancestryRoute } from './ancestry.ts';
import { authenticate, authenticateIfPresent } from './auth.ts';
import { parseBody } from './body.ts';
import { chainRoutes } from './chains.ts';
import {
  type Api,
  type ApiDeps,
  decorateRequests,
  knownCaller,
  setTraceparent,
  type TypeBoxProvider,
} from './context.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { debugBundleRoute } from './debug-bundle.ts';
import { diffRoute } from './diff.ts';
import { discoveryRoute } from './discovery.ts';
import { answerBrokenRequest, createErrorHandler } from './errors.ts';
import { createWaiting, pollRoute } from './events.ts';
import { explainRoute } from './explain.ts';
import { forkRoute } from './fork.ts';
import { healthRoutes } from './health.ts';
import { heartbeatRoutes } from './heartbeats.ts';
import { Idempotency } from './idempotency.ts';
import { ingestRoute } from './ingest.ts';
import { createInterruptTokens } from './interrupt-token.ts';
import { interruptRoutes } from './interrupts.ts';
import { createKeyCache } from './key-cache.ts';
import { keyRoutes } from './keys.ts';
import { noRoute } from './not-found.ts';
import { openapiRoute } from './openapi.ts';
import { packRoutes } from './packs.ts';
import { createRoutes, type Routes } from './routes.ts';
import { runControlRoutes } from './run-control.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { seamRoutes } from './seams/seams.ts';
import { eventsRoute } from './sse.ts';
import { createTracer } from './trace.ts';
import { triggerSubscriptionRoutes } from './trigger-subscriptions.ts';
import { validatorCompiler } from './validation.ts';
import { webhookRoutes } from './webhooks.ts';
import { workflowRoutes } from './workflows.ts';

/** Signed tokens are the longest. */
const PARAM_LENGTH_MAX = 2_048;
/** Fastify's default is forever: a client that sends a byte a minute would hold its connection. */
const REQUEST_ARRIVES_WITHIN_MS = 60_000;

function createServer({ info, log }: ApiDeps): Api {
  const onError = createErrorHandler(log);
  // Fastify gets no logger: it would make a child for every request, for lines that nobody reads.
  const app = fastify({
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
    bodyLimit: info.limits.maxRequestBodyBytes,
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

/** Every route gets its access rule when it is registered, or the host does not start. */
function guardRoutes(
  app: Api,
  deps: ApiDeps,
  routes: Routes,
  cache: ReturnType<typeof createKeyCache>,
): void {
  app.addHook('onRoute', (options) => {
    const { access } = routes.add(options);
    if (access === 'token') options.onRequest = authenticateIfPresent(cache, deps.now);
    else if (access !== 'public') options.onRequest = authenticate(cache, deps.now, access);
  });
}

function traceRequests(app: Api, deps: ApiDeps): void {
  const nextTraceparent = createTracer(deps.randomBytes);
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

function serviceRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { webhooks, schedules, heartbeats, triggers, packs } = deps.services;
  const { now } = deps;
  webhookRoutes(app, webhooks.desk, idempotency);
  scheduleRoutes(app, schedules.desk, idempotency);
  heartbeatRoutes(app, heartbeats.desk, idempotency);
  triggerSubscriptionRoutes(app, { desk: triggers.desk, idempotency, now });
  ingestRoute(app, triggers.ingest);
  deadLetterRoutes(app, { desk: triggers.deadLetters, idempotency, now });
  packRoutes(app, packs.desk);
  if (deps.seams) seamRoutes(app, deps, deps.services);
}

export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const app = createServer(deps);
  const routes = createRoutes();
  const cache = createKeyCache(deps.store.records, deps.now);
  const idempotency = new Idempotency(deps.store, deps.now);
  const waiting = createWaiting(deps.runtime);

  decorateRequests(app);
  traceRequests(app, deps);
  logRequests(app, deps.log);
  guardRoutes(app, deps, routes, cache);
  app.setNotFoundHandler((request) => {
    throw noRoute(routes, request);
  });

  healthRoutes(app, deps);
  discoveryRoute(app, deps);
  openapiRoute(app, deps.info, routes);
  workflowRoutes(app, deps, idempotency);
  chainRoutes(app, deps, idempotency);
  const tokens = createInterruptTokens(deps.masterKey.hmac('interrupt-token'), deps.now);
  runRoutes(app, deps, tokens, idempotency);
  interruptRoutes(app, deps, tokens, idempotency);
  ancestryRoute(app, deps);
  runControlRoutes(app, deps, idempotency);
  forkRoute(app, deps, idempotency);
  diffRoute(app, deps);
  pollRoute(app, deps, waiting);
  const streams = eventsRoute(app, deps);
  debugBundleRoute(app, deps);
  explainRoute(app, deps);
  keyRoutes(app, deps, cache, idempotency);
  serviceRoutes(app, deps, idempotency);

  app.addHook('preClose', async () => {
    waiting.close();
    streams.close();
  });
  await app.ready();
  return app;
}
