import {
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  type JsonObject,
  type Owner,
  type RunSnapshot,
} from '@gantry/protocol';
import { declaredInputs } from './inputs.ts';
import { maskOutputs, maskVariables } from './mask.ts';
import type { Plan, PlanNode } from './plan.ts';
import { isActive, type NodeState, type Run } from './run.ts';
import { runOutputs } from './run-end.ts';

/** The run as readers may see it: sensitive values are masked. */
export function snapshot(plan: Plan, run: Run): RunSnapshot {
  const { facts } = run;
  const current = currentNodeId(plan, run);
  return {
    runId: facts.runId,
    workflowId: facts.workflowId,
    status: run.status,
    owner: ownerOf(facts.owner),
    ...(current !== undefined && { currentNodeId: current }),
    ...(run.startedAt !== undefined && { startedAt: iso(run.startedAt) }),
    ...(run.endedAt !== undefined && { completedAt: iso(run.endedAt) }),
    nodeStates: nodeStates(plan, run),
    inputs: maskVariables(plan, declaredInputs(plan, facts.inputs)),
    variables: maskVariables(plan, run.variables),
    ...(run.outputs && { outputs: runOutputs(plan, run).shown }),
    ...(run.error && { error: run.error }),
    engineVersion: String(ENGINE_VERSION),
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    tags: [...facts.tags],
    metadata: facts.metadata,
    configurable: facts.configurable,
  };
}

/** The first node at work, in drain order. */
const currentNodeId = (plan: Plan, run: Run): string | undefined =>
  plan.order.find((node) => isActive(run.nodes[node.id]))?.id;

const iso = (at: number): string => new Date(at).toISOString();

const ownerOf = ({ tenant, workspace, principal }: Owner): Owner => ({
  tenant,
  ...(workspace !== undefined && { workspace }),
  ...(principal !== undefined && { principal }),
});

function nodeStates(plan: Plan, run: Run): JsonObject {
  const states: JsonObject = {};
  for (const node of plan.order) {
    const state = run.nodes[node.id];
    const view: JsonObject = state ? stateView(plan, node, state) : { status: 'pending' };
    const visits = run.visits[node.id];
    if (visits !== undefined) view.visits = visits;
    states[node.id] = view;
  }
  return states;
}

function stateView(plan: Plan, node: PlanNode, state: NodeState): JsonObject {
  switch (state.status) {
    case 'running':
      return {
        status: state.status,
        attempt: state.attempt,
        startedAt: iso(state.startedAt),
        ...(state.dueAt !== undefined && { dueAt: iso(state.dueAt) }),
        ...(state.timeoutAt !== undefined && { timeoutAt: iso(state.timeoutAt) }),
      };
    case 'retrying':
      return {
        status: state.status,
        attempt: state.attempt,
        retryAt: iso(state.retryAt),
        lastError: state.lastError,
      };
    case 'completed':
      return {
        status: state.status,
        attempt: state.attempt,
        startedAt: iso(state.startedAt),
        endedAt: iso(state.endedAt),
        outputs: maskOutputs(plan, node, state.outputs),
      };
    case 'failed':
      return {
        status: state.status,
        attempts: state.attempts,
        endedAt: iso(state.endedAt),
        error: state.error,
      };
    case 'skipped':
    case 'cancelled':
      return { status: state.status, endedAt: iso(state.endedAt), reason: state.reason };
  }
}
