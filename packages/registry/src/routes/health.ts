import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';

const Status = Type.Object({ status: Type.Literal('ok') });

/** `healthz`: the process is up. `readyz`: what is published is loaded. */
export function healthRoutes(app: Api, isReady: () => boolean): void {
  app.get('/healthz', { schema: { summary: 'The process is up', response: { 200: Status } } }, async () => ({
    status: 'ok',
  }));
  app.get(
    '/readyz',
    { schema: { summary: 'The registry is serving', response: { 200: Status } } },
    async () => {
      if (!isReady()) throw new OpenwopError('service_unavailable', { headers: { 'retry-after': '1' } });
      return { status: 'ok' };
    },
  );
}
