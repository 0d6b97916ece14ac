import type { Json, JsonObject } from '@gantry/protocol';
import type { Expression } from './expression.ts';
import type { NodeState, Run } from './run.ts';

/** The root names of an expression, by its location. */
export const PORT_ROOTS = ['variables', 'inputs', 'nodes', 'channels', 'trigger'] as const;
export const EDGE_ROOTS = ['status', 'output', 'outputs', 'error', ...PORT_ROOTS] as const;

/** The scope of the expression: the given names, the variables, and the nodes and channels that it reads. */
export function scopeFor(expression: Expression, run: Run, local: JsonObject): JsonObject {
  const scope: JsonObject = { ...local, variables: run.variables };
  if (expression.roots.has('trigger')) scope.trigger = run.facts.triggerData ?? {};
  if (expression.nodeIds.size > 0) {
    const nodes: JsonObject = {};
    for (const id of expression.nodeIds) nodes[id] = nodeView(run.nodes.get(id));
    scope.nodes = nodes;
  }
  if (expression.channelNames.size > 0) {
    const channels: JsonObject = {};
    for (const name of expression.channelNames) {
      const state = run.channels[name];
      if (state) channels[name] = state.value;
    }
    scope.channels = channels;
  }
  return scope;
}

function nodeView(state: NodeState | undefined): Json {
  if (!state) return { status: 'pending', outputs: {} };
  const outputs = state.status === 'completed' ? state.outputs : {};
  const view: JsonObject = { status: state.status, outputs };
  if (state.status === 'failed') view.error = { ...state.error };
  return view;
}
