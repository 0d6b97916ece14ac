/** The HTTP face of the host: every resource on one server. */

import { type Api, createServer, type Idempotency, keyRoutes } from '@gantry/http';
import {
  actsWire,
  connectorsWire,
  credentialsWire,
  ErrorEnvelope,
  heartbeatsWire,
  OpenwopError,
  schedulesWire,
} from '@gantry/protocol';
import type { FastifyInstance } from 'fastify';
import { hostMetrics } from '../metrics.ts';
import { ArtifactTypes } from '../packs/artifact-types/artifact-types.ts';
import { PromptLibrary } from '../packs/prompts/prompt-library.ts';
import { ACCESS } from './access.ts';
import { ancestryRoute } from './ancestry.ts';
import { artifactSchemaRoute } from './artifact-schemas.ts';
import { blobLinkRoutes } from './blob-links.ts';
import { chainRoutes } from './chains.ts';
import { connectionRoutes } from './connections.ts';
import { resendRoute } from './connectors.ts';
import type { ApiDeps } from './context.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { debugBundleRoute } from './debug-bundle.ts';
import { diffRoute } from './diff.ts';
import { discoveryRoute } from './discovery.ts';
import { createWaiting, pollRoute } from './events.ts';
import { explainRoute } from './explain.ts';
import { forkRoute } from './fork.ts';
import { healthRoutes } from './health.ts';
import { ingestRoute } from './ingest.ts';
import { createInterruptTokens } from './interrupt-token.ts';
import { interruptRoutes } from './interrupts.ts';
import { openapiRoute } from './openapi.ts';
import { packRoutes } from './packs.ts';
import { promptRoutes } from './prompts.ts';
import { resourceRoutes } from './resources.ts';
import { runControlRoutes } from './run-control.ts';
import { runRoutes } from './runs.ts';
import { sandboxRoutes } from './sandbox.ts';
import { seamRoutes } from './seams/seams.ts';
import { eventsRoute } from './sse.ts';
import { surfaceRoutes } from './surfaces.ts';
import { triggerSubscriptionRoutes } from './trigger-subscriptions.ts';
import { webhookRoutes } from './webhooks.ts';
import { workflowRoutes } from './workflows.ts';

const DECLINED = { summary: 'Served by hosts that are a registry too', response: { 404: ErrorEnvelope } };

/** The protocol defines the answer of a host that is not a registry. */
function declinedListings(app: Api): void {
  for (const url of ['/v1/packs', '/v1/packs/export'])
    app.get(url, { schema: DECLINED }, async () => {
      throw new OpenwopError('not_implemented');
    });
}

function serviceRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { webhooks, schedules, heartbeats, credentials, oauth, messaging, triggers, packs, surfaces } =
    deps.services;
  const { now } = deps;
  webhookRoutes(app, webhooks.service, idempotency);
  resourceRoutes(app, schedulesWire, schedules.service, idempotency);
  resourceRoutes(app, heartbeatsWire, heartbeats.service, idempotency);
  resourceRoutes(app, credentialsWire, credentials.service, idempotency);
  connectionRoutes(app, oauth, idempotency);
  resourceRoutes(app, actsWire, credentials.acts, idempotency);
  resourceRoutes(app, connectorsWire, messaging.connectors, idempotency);
  resendRoute(app, messaging.connectors, idempotency);
  triggerSubscriptionRoutes(app, triggers.service, idempotency);
  ingestRoute(app, triggers.ingest);
  deadLetterRoutes(app, triggers.deadLetters, idempotency);
  packRoutes(app, packs.service);
  const metrics = async () => (await surfaces.metrics()) + hostMetrics(deps.health);
  surfaceRoutes(app, { health: surfaces.health, metrics });
  sandboxRoutes(app, packs.sandboxes);
  blobLinkRoutes(app, surfaces, now);
  promptRoutes(app, new PromptLibrary(packs.records));
  artifactSchemaRoute(app, new ArtifactTypes(packs.records));
  if (deps.registry) deps.registry.routes(app);
  else declinedListings(app);
  if (deps.seams) seamRoutes(app, deps, deps.services);
}

/** What the protocol lays down and this host does not advertise. */
const UNSERVED = [
  { path: /^\/v1\/runs\/[^/]+\/annotations$/, capability: 'feedback' },
  { path: /^\/v1\/content(\/|$)/, capability: 'content' },
  { path: /^\/v1\/host\/workspace\/files(\/|$)/, capability: 'workspace' },
];

export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const { maxRequestBodyBytes } = deps.info.limits;
  const { app, routes, keys, idempotency } = createServer({
    ...deps,
    access: { ...ACCESS, ...deps.registry?.access },
    maxRequestBodyBytes,
    unserved: UNSERVED,
    redact: (tenant, value) => deps.redactions.of(tenant).redactJson(value),
  });
  const waiting = createWaiting(deps.runtime);

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
  keyRoutes(app, { ...deps, cache: keys }, idempotency);
  serviceRoutes(app, deps, idempotency);

  app.addHook('preClose', async () => {
    waiting.close();
    streams.close();
  });
  await app.ready();
  return app;
}
