import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { ApiDeps } from './context.ts';

const RETRY_AFTER_SECONDS = 1;
const Status = Type.Object({ status: Type.String() });
/** Clock of the host's machine minus that of its database. */
const Ready = Type.Object({ status: Type.String(), clockSkewMs: Type.Number() });
const NOT_SERVING = 'The host is starting or stopping.';

export function healthRoutes(app: Api, { info, isReady, health, console: pages }: ApiDeps): void {
  app.get(
    '/',
    {
      exposeHeadRoute: true,
      schema: {
        summary: 'Where to go from here',
        response: {
          200: Type.Object({
            name: Type.String(),
            version: Type.String(),
            discovery: Type.String(),
            openapi: Type.String(),
          }),
        },
      },
    },
    async (request, reply) =>
      pages.page(request, reply) ?? {
        name: info.name,
        version: info.version,
        discovery: '/.well-known/openwop',
        openapi: '/v1/openapi.json',
      },
  );

  app.get(
    '/healthz',
    { exposeHeadRoute: true, schema: { summary: 'Whether the process is up', response: { 200: Status } } },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/readyz',
    { exposeHeadRoute: true, schema: { summary: 'Whether the host takes work', response: { 200: Ready } } },
    async () => {
      const problem = isReady() ? await health.problem() : NOT_SERVING;
      if (problem === null) return { status: 'ready', clockSkewMs: health.clockSkewMs };
      throw new OpenwopError('service_unavailable', {
        message: `${problem} Try again in ${RETRY_AFTER_SECONDS} s.`,
        details: { retryAfter: RETRY_AFTER_SECONDS },
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      });
    },
  );
}
