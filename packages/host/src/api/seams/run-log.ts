/** The log of a run, filtered as the suite requests, and its variables. */
import { type Api, callerOf, readPayload } from '@gantry/http';
import {
  closedObject,
  DebugBundle,
  type JsonObject,
  OpenwopError,
  RunEventDocSchema,
  Values,
} from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import type { ApiDeps } from '../context.ts';
import { exportedRun } from '../debug-bundle.ts';
import { RunParams } from '../runs.ts';
import type { Drive } from './drive.ts';
import { type Aliases, aliasOf } from './envelopes.ts';
import { seamAt } from './seam.ts';
import { type RunlessLog, WITHOUT_RUN } from './trigger-bridge.ts';

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const Filter = closedObject({ type: Text, correlationId: Text, causationId: Text, nodeId: Text });
const Events = Type.Object({ events: Type.Array(RunEventDocSchema) });
const Exported = closedObject({ runId: Type.String({ minLength: 1, maxLength: 256 }) });
const SetVariables = closedObject({ variables: Values });
const Variables = Type.Object({ variables: Values });

/** Logs that the suite reads under other ids than those of runs. */
export interface SeamLogs {
  readonly runless: RunlessLog;
  readonly aliases: Aliases;
}

export function runLogSeams(app: Api, deps: ApiDeps, drive: Drive, { runless, aliases }: SeamLogs): void {
  const { runtime } = deps;
  /** For a run that the suite named before it existed: the events that its request caused. */
  async function eventsOf(tenant: string, runId: string): Promise<Static<typeof RunEventDocSchema>[]> {
    if (runId === WITHOUT_RUN) return [...runless.of(tenant)];
    const alias = aliases.get(aliasOf(tenant, runId));
    if (!alias) return drive.events({ tenant, runId });
    const events = await drive.events(alias.key);
    return events
      .filter(({ causationId }) => causationId === alias.causationId)
      .map((event) => ({ contentTrust: 'trusted', ...event, runId }));
  }

  const logged = { params: RunParams, querystring: Filter, response: { 200: Events } };
  app.get(...seamAt('GET test/runs/{runId}/events', logged), async (request) => {
    const events = await eventsOf(callerOf(request).tenant, request.params.runId);
    return { events: events.filter((event) => fits(event, request.query)) };
  });

  const exported = { body: Exported, response: { 200: DebugBundle } };
  app.post(...seamAt('test/debug-bundle/export', exported), async (request, reply) => {
    const key = { tenant: callerOf(request).tenant, runId: request.body.runId };
    return readPayload(request, reply, await exportedRun(deps, key));
  });

  const variable = { params: RunParams, response: { 200: Variables } };
  app.get(...seamAt('GET test/runs/{runId}/variables', variable), async (request) => {
    const read = await runtime.read({ tenant: callerOf(request).tenant, runId: request.params.runId });
    if (read === null) throw new OpenwopError('not_found');
    return { variables: read.snapshot.variables };
  });

  const settable = { ...variable, body: SetVariables };
  app.post(...seamAt('test/runs/{runId}/variables', settable), async (request) => {
    const key = { tenant: callerOf(request).tenant, runId: request.params.runId };
    const { variables } = request.body;
    const result = await runtime.command(key, { type: 'setVariables', variables: variables as JsonObject });
    if (result.kind === 'not_found') throw new OpenwopError('not_found');
    if (result.kind === 'refused')
      throw new OpenwopError('validation_error', result.refusal && { message: result.refusal.message });
    return { variables: (await runtime.read(key))?.snapshot.variables ?? {} };
  });
}

function fits(
  event: Static<typeof RunEventDocSchema>,
  { correlationId, ...filter }: Static<typeof Filter>,
): boolean {
  const wanted = Object.entries(filter) as [keyof typeof filter, string][];
  return (
    (correlationId === undefined || event.payload.correlationId === correlationId) &&
    wanted.every(([name, value]) => event[name] === value)
  );
}
