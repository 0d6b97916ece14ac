/** Routes for the operator of the host. */
import { type Api, type Caller, callerOf, HOST_ADMIN, readPayload } from '@gantry/http';
import {
  BackendHealth,
  HOST_READ,
  OpenwopError,
  RekeyRequest,
  RekeyStep,
  SandboxHealth,
} from '@gantry/protocol';
import Type from 'typebox';
import type { Sandboxes } from '../packs/sandboxes.ts';
import type { Rekey } from '../rekey.ts';
import type { Surfaces } from '../surfaces/surfaces.ts';

const HEALTH = {
  summary: 'Which backend keeps what packs store, and whether it can be used now',
  response: {
    200: Type.Object({ backends: Type.Array(BackendHealth) }),
  },
};

const METRICS = {
  summary:
    'Calls of packs to surfaces by method and outcome, and the state of backends, as Prometheus reads them',
  response: { 200: Type.String() },
};

export function surfaceRoutes(app: Api, { health, metrics }: Pick<Surfaces, 'health' | 'metrics'>): void {
  app.get('/v1/host/gantry/metrics', { schema: METRICS }, async (request, reply) => {
    if (!readsHost(callerOf(request))) throw new OpenwopError('forbidden', { message: NOT_YOURS });
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics());
  });
  app.get('/v1/host/gantry/surfaces', { schema: HEALTH }, async (request, reply) => {
    const backends = await health();
    const told = readsHost(callerOf(request)) ? backends : backends.map(withoutReason);
    return readPayload(request, reply, JSON.stringify({ backends: told }));
  });
}

/** The operator is whoever has an admin key. */
const isOperator = ({ scopes }: Caller): boolean => scopes.has(HOST_ADMIN);

/** For data of all tenants and addresses of servers. */
const readsHost = (caller: Caller): boolean => isOperator(caller) || caller.scopes.has(HOST_READ);

const NOT_YOURS = `Metrics are of all tenants. Ask with the admin key, or one to which it gave the scope ${HOST_READ}.`;

function withoutReason({ capability, backend, state }: BackendHealth): BackendHealth {
  if (state === 'up') return { capability, backend, state };
  return { capability, backend, state, problem: 'It is not available. Ask the operator of this host.' };
}

const SANDBOX = {
  summary: 'The isolation of pack code on this machine, and what is missing',
  response: { 200: SandboxHealth },
};

export function sandboxRoutes(app: Api, sandboxes: Pick<Sandboxes, 'health'>): void {
  app.get('/v1/host/gantry/sandbox', { schema: SANDBOX }, async (request) => {
    if (!readsHost(callerOf(request)))
      throw new OpenwopError('forbidden', { message: 'Only the operator of this host may see its sandbox.' });
    return sandboxes.health();
  });
}

const REKEY = {
  summary: 'Move what is sealed in the database to a new root key, a step at a time',
  body: RekeyRequest,
  response: { 200: RekeyStep },
};

export function rekeyRoutes(app: Api, rekey: Pick<Rekey, 'step'>): void {
  app.post('/v1/host/gantry/rekey', { schema: REKEY }, async (request) => {
    if (!isOperator(callerOf(request)))
      throw new OpenwopError('forbidden', {
        message: 'The root key is of all tenants. Ask with the admin key.',
      });
    return rekey.step(request.body.after);
  });
}
