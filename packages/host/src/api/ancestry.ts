import { type Api, callerOf, readPayload } from '@gantry/http';
import { Ancestry, OpenwopError } from '@gantry/protocol';
import type { ApiDeps } from './context.ts';
import { RUN_URL, RunParams } from './runs.ts';

/** The run's immediate parent; whoever wants the whole chain walks it. */
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
