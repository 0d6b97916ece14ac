import { explain } from '@gantry/engine';
import { OpenwopError, RunStatus } from '@gantry/protocol';
import Type from 'typebox';
import { type Api, type ApiDeps, callerOf } from './context.ts';
import { readPayload } from './reply.ts';
import { RunParams } from './runs.ts';

export function explainRoute(app: Api, { runtime, now }: ApiDeps): void {
  app.get(
    '/v1/host/gantry/runs/:runId/explain',
    {
      schema: {
        summary: 'Say what a run waits for, or why it ended as it did',
        params: RunParams,
        response: { 200: Type.Object({ runId: Type.String(), status: RunStatus }) },
      },
    },
    async (request, reply) => {
      const { runId } = request.params;
      const read = await runtime.read({ tenant: callerOf(request).tenant, runId });
      if (read === null) throw new OpenwopError('not_found');
      const explanation = { runId, status: read.run.status, ...explain(read.plan, read.run, now()) };
      return readPayload(request, reply, JSON.stringify(explanation));
    },
  );
}
