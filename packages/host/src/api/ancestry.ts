import { type Api, callerOf, readPayload } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { ApiDeps } from './context.ts';
import { RUN_URL, RunParams } from './runs.ts';

const Parent = Type.Object({ runId: Type.String(), hostId: Type.String(), cause: Type.String() });
const Ancestry = Type.Object({
  runId: Type.String(),
  hostId: Type.String(),
  parent: Type.Union([Type.Null(), Parent]),
});

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
