import { type Api, callerOf } from '@gantry/http';
import { OpenwopError, SandboxHealth } from '@gantry/protocol';
import type { Sandboxes } from '../packs/sandboxes.ts';
import { isOperator } from './surfaces.ts';

const HEALTH = {
  summary: 'What stands between the code of packs and this machine, and what is missing',
  response: { 200: SandboxHealth },
};

export function sandboxRoutes(app: Api, sandboxes: Pick<Sandboxes, 'health'>): void {
  app.get('/v1/host/gantry/sandbox', { schema: HEALTH }, async (request) => {
    if (!isOperator(callerOf(request)))
      throw new OpenwopError('forbidden', { message: 'Only the operator of this host may see its sandbox.' });
    return sandboxes.health();
  });
}
