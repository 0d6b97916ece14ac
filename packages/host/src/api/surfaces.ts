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

const METRICS = {
  summary: 'Calls of packs to surfaces by method and outcome, as Prometheus reads them',
  response: { 200: Type.String() },
};

export function surfaceRoutes(app: Api, { health, metrics }: Pick<Surfaces, 'health' | 'metrics'>): void {
  app.get('/v1/host/gantry/metrics', { schema: METRICS }, (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics()),
  );
  app.get('/v1/host/gantry/surfaces', { schema: HEALTH }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify({ backends: await health() })),
  );
}
