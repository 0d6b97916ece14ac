/** The webhook routes behind the same doors as in the host. */
import type { Store } from '@gantry/store';
import fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { accessOf } from '../../api/access.ts';
import { authenticate } from '../../api/auth.ts';
import { parseBody } from '../../api/body.ts';
import { decorateRequests, type TypeBoxProvider } from '../../api/context.ts';
import { createErrorHandler } from '../../api/errors.ts';
import { Idempotency } from '../../api/idempotency.ts';
import { createKeyCache } from '../../api/key-cache.ts';
import { validatorCompiler } from '../../api/validation.ts';
import { webhookRoutes } from '../../api/webhooks.ts';
import type { WebhookDesk } from '../webhook-desk.ts';

export async function webhookApp(options: {
  readonly store: Store;
  readonly desk: WebhookDesk;
  readonly now: () => number;
  readonly log: Logger;
}): Promise<FastifyInstance> {
  const { store, desk, now, log } = options;
  const app = fastify().withTypeProvider<TypeBoxProvider>();
  const cache = createKeyCache(store.records, now);
  app.setErrorHandler(createErrorHandler(log));
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, parseBody(body as Buffer));
  });
  decorateRequests(app);
  app.addHook('onRoute', (route) => {
    const access = accessOf(String(route.method), route.url);
    if (Array.isArray(access)) route.onRequest = authenticate(cache, now, access);
  });
  webhookRoutes(app, desk, new Idempotency(store, now));
  await app.ready();
  return app;
}
