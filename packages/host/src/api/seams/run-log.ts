/** What a run left behind: its log, by what the suite asks for, and its variables. */
import { type Api, callerOf } from '@gantry/http';
import { closedObject, OpenwopError, RunEventDocSchema } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import type { ApiDeps } from '../context.ts';
import { RunParams } from '../runs.ts';
import type { Drive } from './drive.ts';

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const Filter = closedObject({ type: Text, correlationId: Text, causationId: Text, nodeId: Text });
const Events = Type.Object({ events: Type.Array(RunEventDocSchema) });
const Variables = Type.Object({ variables: Type.Record(Type.String(), Type.Unknown()) });

export function runLogSeams(app: Api, { runtime }: ApiDeps, drive: Drive): void {
  app.get(
    '/v1/host/sample/test/runs/:runId/events',
    {
      schema: {
        summary: 'Read the log of a run; a run that is not there has none',
        params: RunParams,
        querystring: Filter,
        response: { 200: Events },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const events = await drive.events({ tenant, runId: request.params.runId });
      return { events: events.filter((event) => fits(event, request.query)) };
    },
  );

  app.get(
    '/v1/host/sample/test/runs/:runId/variables',
    {
      schema: { summary: 'Read the variables of a run', params: RunParams, response: { 200: Variables } },
    },
    async (request) => {
      const read = await runtime.read({ tenant: callerOf(request).tenant, runId: request.params.runId });
      if (read === null) throw new OpenwopError('not_found');
      return { variables: read.snapshot.variables };
    },
  );
}

function fits(event: Static<typeof RunEventDocSchema>, filter: Static<typeof Filter>): boolean {
  const { type, correlationId, causationId, nodeId } = filter;
  return (
    (type === undefined || event.type === type) &&
    (correlationId === undefined || event.payload.correlationId === correlationId) &&
    (causationId === undefined || event.causationId === causationId) &&
    (nodeId === undefined || event.nodeId === nodeId)
  );
}
