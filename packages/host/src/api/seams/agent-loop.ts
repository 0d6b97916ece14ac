/** Runs the loop of a supervisor, with or without an interrupt. */

import { firstInterrupt } from '@gantry/engine';
import type { Api } from '@gantry/http';
import { OpenwopError, type RunEventDoc, type WorkflowDefinition } from '@gantry/protocol';
import Type from 'typebox';
import { definition, edge, node, noop, seamId } from './definition.ts';
import { type Drive, resolver } from './drive.ts';
import { seam } from './seam.ts';

const TURNS_MAX = 100;
/** A confidence so low that the decision needs an approval. */
const UNSURE = 0.1;

const Turn = Type.Integer({ minimum: 1, maximum: TURNS_MAX });
const Loop = Type.Object({
  turns: Turn,
  suspendAtTurn: Type.Optional(Turn),
  resume: Type.Optional(Type.Boolean()),
  workspaceWriteAtTurn: Type.Optional(Turn),
});

const worker = noop(seamId('worker'));

function loop(turns: number, suspendAtTurn = 0): WorkflowDefinition {
  const plan = Array.from({ length: turns }, (_, index) => ({
    ...(index < turns - 1 ? { kind: 'next-worker', nextWorkerIds: [worker.id] } : { kind: 'terminate' }),
    ...(index === suspendAtTurn - 1 && { confidence: UNSURE }),
  }));
  return definition(
    seamId(`agent-loop-${turns}-${suspendAtTurn}`),
    [
      node('lead', 'core.orchestrator.supervisor', { config: { mockDispatchPlan: plan } }),
      node('send', 'core.dispatch'),
    ],
    {
      edges: [edge('lead', 'send'), edge('send', 'lead')],
      settings: { maxLoopbackIterations: turns },
    },
  );
}

export function agentLoopSeam(app: Api, drive: Drive): void {
  seam(app, 'agentloop/run', Loop, async (caller, body) => {
    const { turns, suspendAtTurn, resume, workspaceWriteAtTurn } = body;
    if (workspaceWriteAtTurn !== undefined)
      throw new OpenwopError('capability_not_provided', { details: { capability: 'workspace' } });
    const key = await drive.start(caller, [worker, loop(turns, suspendAtTurn)]);
    const { run } = await drive.atRest(key);
    const suspended = firstInterrupt(run) !== undefined;
    if (suspended && resume === true)
      await drive.answer(key, { action: 'accept' }, resolver(caller.principal));
    else if (suspended) await drive.close(key);
    await drive.atRest(key);
    const events = await drive.events(key);
    const resumedIteration = suspended && resume === true ? resumedIn(events) : undefined;
    return {
      decisions: decisionsIn(events).map(({ payload }) => payload),
      ...(resumedIteration !== undefined && { resumedIteration }),
      runId: key.runId,
    };
  });
}

const decisionsIn = (events: readonly RunEventDoc[]): RunEventDoc[] =>
  events.filter(({ type }) => type === 'runOrchestrator.decided');

/** The resumed turn: the one before the first decision after the answer, or the last turn. */
function resumedIn(events: readonly RunEventDoc[]): number | undefined {
  const answered = events.find(({ type }) => type === 'interrupt.resolved')?.sequence;
  if (answered === undefined) return;
  const decisions = decisionsIn(events);
  const next = decisions.find(({ sequence }) => sequence > answered);
  return next ? Number(next.payload.iteration) - 1 : Number(decisions.at(-1)?.payload.iteration);
}
