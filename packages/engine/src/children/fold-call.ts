import type { JsonObject } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { isObject, own } from '../json.ts';
import { type CalledRun, isEnded } from './child.ts';

/** Another attempt makes its calls anew: it does not wait for the child that the last one was cut off from. */
export function forgetCall(run: Draft, nodeId: string): void {
  if (run.children.get(nodeId)?.callInputs) run.children = run.children.with(nodeId, undefined);
}

/** The end of a child that pack code called stays with the node, whose code runs again and is told of it. */
export function foldCall(run: Draft, nodeId: string, sealed: JsonObject): void {
  const entry = run.children.get(nodeId);
  const state = run.nodes.get(nodeId);
  if (!entry?.callInputs || entry.visit !== sealed.visit || state?.status !== 'running') return;
  const [child] = entry.children;
  if (!child || !isEnded(child)) return;
  const { workflowId, status, childRunId, error } = child;
  const outputs = own(sealed, 'outputs');
  const called: CalledRun = {
    workflowId,
    attempt: state.attempt,
    status,
    ...(childRunId !== undefined && { runId: childRunId }),
    ...(isObject(outputs) && { outputs }),
    ...(error && { error }),
  };
  run.nodes = run.nodes.with(nodeId, { ...state, calls: [...(state.calls ?? []), called] });
}
