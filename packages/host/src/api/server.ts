/** The HTTP API of the host: all routes on one server. */

import { type Api, createServer, keyRoutes } from '@gantry/http';
import { ErrorEnvelope, OpenwopError } from '@gantry/protocol';
import { KEYS_CHANGED } from '@gantry/store';
import type { FastifyInstance } from 'fastify';
import { SESSION_KIND } from '../console/sessions.ts';
import { keyAudit } from '../credentials/act.ts';
import { ACCESS } from './access.ts';
import { artifactRoutes } from './artifacts.ts';
import { chainRoutes } from './chains.ts';
import type { ApiDeps } from './context.ts';
import { debugBundleRoute } from './debug-bundle.ts';
import { diffRoute } from './diff.ts';
import { discoveryRoute } from './discovery.ts';
import { envelopeSchemaRoute } from './envelope-schemas.ts';
import { createWaiting, pollRoute } from './events.ts';
import { ancestryRoute, explainRoute } from './explain.ts';
import { forkRoute } from './fork.ts';
import { healthRoutes } from './health.ts';
import { heartbeatEventsRoute } from './heartbeat-events.ts';
import { interruptLinkRoutes } from './interrupt-links.ts';
import { interruptRoutes } from './interrupts.ts';
import { openapiRoute } from './openapi.ts';
import { runControlRoutes } from './run-control.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './session.ts';
import { eventsRoute } from './sse.ts';
import { usageRoutes } from './usage.ts';
import { workflowRoutes } from './workflows.ts';

const DECLINED = { summary: 'Served by hosts that are a registry too', response: { 404: ErrorEnvelope } };

/** Routes of a registry. The protocol defines the answer of a host that is not a registry. */
function declinedListings(app: Api): void {
  for (const url of ['/v1/packs', '/v1/packs/export'])
    app.get(url, { schema: DECLINED }, async () => {
      throw new OpenwopError('not_implemented');
    });
}

/** Routes of the protocol that this host does not advertise. */
const UNSERVED = [
  { path: /^\/v1\/runs\/[^/]+\/annotations$/, capability: 'feedback' },
  { path: /^\/v1\/content(\/|$)/, capability: 'content' },
  { path: /^\/v1\/host\/workspace\/files(\/|$)/, capability: 'workspace' },
];

export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const { maxRequestBodyBytes } = deps.info.limits;
  const audit = keyAudit(deps);
  const { app, routes, keys, held, idempotency } = createServer({
    ...deps,
    access: { ...ACCESS, ...deps.registry?.access },
    maxRequestBodyBytes,
    unserved: UNSERVED,
    page: deps.console.page,
    audit,
    sessions: { originOf: deps.originOf, find: deps.services.sessions.find },
    redact: (tenant, value) => deps.redactions.of(tenant).redactJson(value),
  });
  const waiting = createWaiting(deps.runtime);

  healthRoutes(app, deps);
  deps.console.routes(app);
  sessionRoutes(app, deps, keys);
  discoveryRoute(app, deps);
  envelopeSchemaRoute(app);
  openapiRoute(app, deps.info, routes);
  workflowRoutes(app, deps, idempotency);
  chainRoutes(app, deps, idempotency);
  runRoutes(app, deps, deps.services.interruptTokens, idempotency);
  interruptRoutes(app, deps, idempotency);
  interruptLinkRoutes(app, deps, idempotency);
  ancestryRoute(app, deps);
  runControlRoutes(app, deps, idempotency);
  forkRoute(app, deps, idempotency);
  diffRoute(app, deps);
  pollRoute(app, deps, waiting, held);
  const streams = eventsRoute(app, deps, held);
  heartbeatEventsRoute(app, deps, streams, held);
  debugBundleRoute(app, deps);
  explainRoute(app, deps);
  usageRoutes(app, deps, deps.services.ai);
  keyRoutes(app, { ...deps, cache: keys, audit }, idempotency);
  artifactRoutes(app, deps, idempotency);
  deps.features.routes(app, { ...deps, idempotency });
  if (deps.registry) deps.registry.routes(app);
  else declinedListings(app);
  if (deps.seams) (await import('./seams/seams.ts')).seamRoutes(app, deps, deps.services);

  const unwatch = await deps.store.watch(({ kinds, missed }) => {
    if (missed || kinds.includes(KEYS_CHANGED) || kinds.includes(SESSION_KIND)) keys.clear();
  });
  app.addHook('onClose', unwatch);
  app.addHook('preClose', async () => {
    waiting.close();
    streams.close();
  });
  await app.ready();
  return app;
}
