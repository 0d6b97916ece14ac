import { type Api, callerOf, HOST_ADMIN } from '@gantry/http';
import { OpenwopError, RekeyRequest, RekeyStep } from '@gantry/protocol';
import type { Rekey } from '../rekey.ts';

const STEP = {
  summary: 'Move what is sealed in the database to a new root key, a step at a time',
  body: RekeyRequest,
  response: { 200: RekeyStep },
};

export function rekeyRoutes(app: Api, rekey: Pick<Rekey, 'step'>): void {
  app.post('/v1/host/gantry/rekey', { schema: STEP }, async (request) => {
    if (!callerOf(request).scopes.has(HOST_ADMIN))
      throw new OpenwopError('forbidden', {
        message: 'The root key is of all tenants. Ask with the admin key.',
      });
    return rekey.step(request.body.after);
  });
}
