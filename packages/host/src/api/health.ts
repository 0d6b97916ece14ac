import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { ApiDeps } from './context.ts';

const RETRY_AFTER_SECONDS = 1;
const Status = Type.Object({ status: Type.String() });

export function healthRoutes(app: Api, { info, isReady }: ApiDeps): void {
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
    async () => ({
      name: info.name,
      version: info.version,
      discovery: '/.well-known/openwop',
      openapi: '/v1/openapi.json',
    }),
  );

  app.get(
    '/healthz',
    { exposeHeadRoute: true, schema: { summary: 'Whether the process is up', response: { 200: Status } } },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/readyz',
    { exposeHeadRoute: true, schema: { summary: 'Whether the host takes work', response: { 200: Status } } },
    async () => {
      if (isReady()) return { status: 'ready' };
      throw new OpenwopError('service_unavailable', {
        details: { retryAfter: RETRY_AFTER_SECONDS },
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      });
    },
  );
}
