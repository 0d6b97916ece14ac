/** A parallel dispatch of real children. */

import { DISPATCH_MAX_FAN_OUT, type Run } from '@gantry/engine';
import type { Api } from '@gantry/http';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { definition, edge, node, noop, seamId, seamIdFor } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const FanOut = Type.Object({
  nextWorkerIds: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: DISPATCH_MAX_FAN_OUT,
  }),
  config: Type.Record(Type.String(), Type.Unknown()),
});

/** Workers of the suite have no workflows, and have ids that no workflow can have. */
const isPlayed = (workerId: string): boolean => workerId.startsWith('conformance.');
const workflowOf = (workerId: string): string =>
  isPlayed(workerId) ? seamId(`worker-${workerId.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`) : workerId;

function parent({ nextWorkerIds, config }: Static<typeof FanOut>): WorkflowDefinition {
  const decision = { kind: 'next-worker', nextWorkerIds: nextWorkerIds.map(workflowOf) };
  return definition(
    seamIdFor('fan-out', { decision, config: config as JsonObject }),
    [
      node('lead', 'core.orchestrator.supervisor', {
        inputs: { decision: { type: 'static', value: decision } },
      }),
      node('send', 'core.dispatch', { config }),
    ],
    { edges: [edge('lead', 'send')] },
  );
}

export function fanOutSeam(app: Api, drive: Drive): void {
  seam(app, 'dispatch/fanout', FanOut, async (caller, body) => {
    const played = [...new Set(body.nextWorkerIds.filter(isPlayed).map(workflowOf))];
    const key = await drive.start(caller, [...played.map(noop), parent(body)]);
    const { run } = await drive.atRest(key);
    const { children, ended } = run.children.get('send') ?? { children: [], ended: [] };
    const join = (await drive.events(key)).find(({ type }) => type === 'core.dispatch.join')?.payload;
    const { joinOutcome } = join ?? outputsOf(run, 'send');
    return {
      ...(typeof joinOutcome === 'string' && { joinOutcome }),
      children: children.map((child) => ({
        workerId: body.nextWorkerIds[child.index] ?? child.workflowId,
        ...('childRunId' in child && child.childRunId !== undefined && { childRunId: child.childRunId }),
        status: child.status,
      })),
      mergeOrder: [...ended],
      runId: key.runId,
    };
  });
}

function outputsOf(run: Run, nodeId: string): JsonObject {
  const state = run.nodes.get(nodeId);
  return state?.status === 'completed' ? state.outputs : {};
}
