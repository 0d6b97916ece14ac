import { type Api, readPayload } from '@gantry/http';
import { BackendHealth } from '@gantry/protocol';
import Type from 'typebox';
import type { Surfaces } from '../surfaces/surfaces.ts';

const HEALTH = {
  summary: 'Which backend keeps what packs store, and whether it can be used now',
  response: {
    200: Type.Object({ backends: Type.Array(BackendHealth) }),
  },
};

export function surfaceRoutes(app: Api, { health }: Pick<Surfaces, 'health'>): void {
  app.get('/v1/host/gantry/surfaces', { schema: HEALTH }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify({ backends: await health() })),
  );
}
