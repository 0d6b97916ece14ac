import { type Explanation, explain } from '@gantry/engine';
import { type Api, callerOf, readPayload } from '@gantry/http';
import { Ancestry, isoTime, OpenwopError, RunExplanation } from '@gantry/protocol';
import type { ApiDeps } from './context.ts';
import { RUN_URL, RunParams } from './runs.ts';

/** Converts the milliseconds of the engine to dates. */
function toWire(
  runId: string,
  { since, waitingFor, cause, notes, actions, ...rest }: Explanation,
): RunExplanation {
  return {
    runId,
    ...rest,
    ...(since !== undefined && { since: isoTime(since) }),
    waitingFor: waitingFor.map(({ since: from, wakesAt, ...wait }) => ({
      ...wait,
      since: isoTime(from),
      ...(wakesAt !== undefined && { wakesAt: isoTime(wakesAt) }),
    })),
    ...(cause && { cause }),
    ...(notes && { notes: [...notes] }),
    actions: [...actions],
  };
}

export function explainRoute(app: Api, { runtime, now }: ApiDeps): void {
  app.get(
    '/v1/host/gantry/runs/:runId/explain',
    {
      schema: {
        summary: 'Explain what a run waits for, or why it ended',
        params: RunParams,
        response: { 200: RunExplanation },
      },
    },
    async (request, reply) => {
      const { runId } = request.params;
      const read = await runtime.read({ tenant: callerOf(request).tenant, runId });
      if (read === null) throw new OpenwopError('not_found');
      const explanation = toWire(runId, explain(read.plan, read.run, now()));
      return readPayload(request, reply, JSON.stringify(explanation));
    },
  );
}

/** The run's immediate parent. A client follows the parents to get the whole chain. */
export function ancestryRoute(app: Api, { runtime, info }: ApiDeps): void {
  app.get(
    `${RUN_URL}/ancestry`,
    {
      schema: { summary: 'Read which run started this one', params: RunParams, response: { 200: Ancestry } },
    },
    async (request, reply) => {
      const { runId } = request.params;
      const read = await runtime.read({ tenant: callerOf(request).tenant, runId });
      if (read === null) throw new OpenwopError('not_found');
      const { parent } = read.run.facts;
      const hostId = info.name;
      const body = {
        runId,
        hostId,
        parent: parent ? { runId: parent.runId, hostId, cause: parent.cause } : null,
      };
      return readPayload(request, reply, JSON.stringify(body));
    },
  );
}
