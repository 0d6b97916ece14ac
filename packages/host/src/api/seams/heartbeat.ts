/** Ticks of a real heartbeat whose predicate sees the state that the caller sends. */
import type { Api, Caller } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import { HEARTBEAT_LIMITS, type JsonObject } from '@gantry/protocol';
import { personCaller } from '@gantry/resources';
import Type from 'typebox';
import type { Heartbeats } from '../../heartbeats/heartbeats.ts';
import type { ApiDeps } from '../context.ts';
import { definition, edge, node, noop, seamId, seamIdFor } from './definition.ts';
import { seam } from './seam.ts';

const MAX_RUNTIME_MS = 1_000;

const Tick = Type.Object({
  heartbeatId: Type.String({ minLength: 1, maxLength: 128 }),
  observedState: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The duration of the predicate. */
  simulateSlowMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000 })),
});

export type SeamHeartbeats = Pick<Heartbeats, 'service' | 'evaluate'>;

const variable = (variableName: string) => ({ type: 'variable', variableName }) as const;

/** Waits `slowMs`, then reports the state that it was given, and requests a run. */
const predicate = (id: string) =>
  definition(
    id,
    [
      node('wait', 'core.delay', { inputs: { delayMs: variable('slowMs') } }),
      node('look', 'core.identity', {
        inputs: { state: variable('observed'), enqueue: { type: 'static', value: true } },
      }),
    ],
    {
      edges: [edge('wait', 'look')],
      variables: [
        { name: 'slowMs', type: 'number', defaultValue: 0 },
        { name: 'observed', type: 'object', defaultValue: {} },
      ],
    },
  );

export function heartbeatSeam(app: Api, { workflows }: ApiDeps, { service, evaluate }: SeamHeartbeats): void {
  /** Serialized: two concurrent first ticks must not create two heartbeats. */
  const creating = limiter({ max: 1 });

  /** Maps the caller's name to a heartbeat of the host, by the id of its predicate. */
  async function heartbeatOf(sender: Caller, name: string): Promise<string> {
    const caller = personCaller(sender);
    const { tenant } = sender;
    const workflowId = seamIdFor('heartbeat', { name });
    const listed = await service.list(caller, { limit: HEARTBEAT_LIMITS.perTenantMax });
    const known = listed.findLast(({ view }) => view.workflowId === workflowId);
    if (known) return known.view.heartbeatId;
    const enqueued = noop(seamId('heartbeat-action'));
    await workflows.registerAll(tenant, [predicate(workflowId), enqueued]);
    // The clock of the host must not tick between the caller's ticks.
    const timing = { intervalSec: HEARTBEAT_LIMITS.maxIntervalSec, maxRuntimeMs: MAX_RUNTIME_MS };
    const request = { workflowId, ...timing, enqueue: { workflowId: enqueued.id } };
    return (await service.create(caller, request)).view.heartbeatId;
  }

  seam(app, 'heartbeat/tick', Tick, async (caller, body) => {
    const { heartbeatId, observedState = {}, simulateSlowMs = 0 } = body;
    const id = await creating.run(caller.tenant, () => heartbeatOf(caller, heartbeatId));
    const inputs = { observed: observedState as JsonObject, slowMs: simulateSlowMs };
    const settled = await evaluate({ tenant: caller.tenant, id }, inputs);
    if (settled === null) return { evaluated: [], stateChanged: [], enqueuedRuns: 0 };
    const { evaluated, stateChanged, enqueuedRunId } = settled;
    return {
      evaluated: [{ ...evaluated, heartbeatId }],
      stateChanged: stateChanged ? [{ ...stateChanged, heartbeatId }] : [],
      enqueuedRuns: enqueuedRunId === undefined ? 0 : 1,
    };
  });
}
