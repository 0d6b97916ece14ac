/** The webhook routes behind the same doors as in the host. */
import { createServer, randomBytes } from '@gantry/http';
import { webhooksWire } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { ACCESS } from '../../api/access.ts';
import { resourceRoutes } from '../../api/resources.ts';
import { webhookRoutes } from '../../api/webhooks.ts';
import type { WebhookService } from '../webhook-service.ts';

export async function webhookApp(options: {
  readonly store: Store;
  readonly service: WebhookService;
  readonly now: () => number;
  readonly log: Logger;
}): Promise<FastifyInstance> {
  const { app, idempotency } = createServer({
    ...options,
    randomBytes,
    access: ACCESS,
    maxRequestBodyBytes: 1_048_576,
  });
  resourceRoutes(app, webhooksWire, options.service, idempotency);
  webhookRoutes(app, options.service, idempotency);
  await app.ready();
  return app;
}
