import {
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  isoTime,
  type JsonObject,
  type RunOwner,
  type RunSnapshot,
} from '@gantry/protocol';
import { channelsView, nodeChannels } from './channels/read.ts';
import { seededInputs } from './inputs.ts';
import { maskOutputs, maskVariables } from './mask.ts';
import type { Plan, PlanNode } from './plan.ts';
import { isActive, type NodeState, type Run } from './run.ts';
import { runOutputs } from './run-end.ts';
import { firstQuestion, statusOf } from './status.ts';

/** The run as readers may see it: sensitive values are masked. */
export function snapshot(plan: Plan, run: Run): RunSnapshot {
  const { facts } = run;
  const current = currentNodeId(plan, run);
  const channels = channelsView(plan, run);
  return {
    runId: facts.runId,
    workflowId: facts.workflowId,
    status: statusOf(plan, run),
    owner: ownerOf(facts.owner),
    ...(current !== undefined && { currentNodeId: current }),
    ...(run.startedAt !== undefined && { startedAt: isoTime(run.startedAt) }),
    ...(run.endedAt !== undefined && { completedAt: isoTime(run.endedAt) }),
    nodeStates: nodeStates(plan, run),
    inputs: maskVariables(plan, seededInputs(plan, facts)),
    variables: { ...maskVariables(plan, run.variables), ...nodeChannels(plan, run) },
    ...(channels && { channels }),
    ...(run.outputs && { outputs: runOutputs(plan, run).shown }),
    ...(run.error && { error: run.error }),
    engineVersion: String(ENGINE_VERSION),
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    tags: [...facts.tags],
    ...(facts.parent && { parentRunId: facts.parent.runId, parentNodeId: facts.parent.nodeId }),
    ...(facts.fork && { sourceRunId: facts.fork.sourceRunId }),
    ...(run.orchestrator && { runOrchestrator: { agentId: run.orchestrator.agentId } }),
    ...(run.agent && { agent: run.agent }),
    metadata: facts.metadata,
    configurable: facts.configurable,
    ...(run.cost && { metrics: { openwopCost: run.cost } }),
  };
}

/** The first node at work, in drain order; of a run that waits, the node that waits. */
function currentNodeId(plan: Plan, run: Run): string | undefined {
  if (run.status === 'running' && statusOf(plan, run) !== 'running') return firstQuestion(run)?.nodeId;
  return plan.order.find((node) => isActive(run.nodes.get(node.id)))?.id;
}

const ownerOf = ({ tenant, workspace, principal }: RunOwner): RunOwner => ({
  tenant,
  ...(workspace !== undefined && { workspace }),
  ...(principal !== undefined && { principal }),
});

function nodeStates(plan: Plan, run: Run): JsonObject {
  const states: JsonObject = {};
  for (const node of plan.order) {
    const state = run.nodes.get(node.id);
    const view: JsonObject = state ? stateView(plan, node, state) : { status: 'pending' };
    const visits = run.visits.get(node.id);
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
        startedAt: isoTime(state.startedAt),
        ...(state.dueAt !== undefined && { dueAt: isoTime(state.dueAt) }),
        ...(state.timeoutAt !== undefined && { timeoutAt: isoTime(state.timeoutAt) }),
      };
    case 'suspended':
      return {
        status: state.status,
        attempt: state.attempt,
        startedAt: isoTime(state.startedAt),
        suspendedAt: isoTime(state.suspendedAt),
      };
    case 'retrying':
      return {
        status: state.status,
        attempt: state.attempt,
        retryAt: isoTime(state.retryAt),
        lastError: state.lastError,
      };
    case 'completed':
      return {
        status: state.status,
        attempt: state.attempt,
        startedAt: isoTime(state.startedAt),
        endedAt: isoTime(state.endedAt),
        outputs: maskOutputs(plan, node, state.outputs),
      };
    case 'failed':
      return {
        status: state.status,
        attempts: state.attempts,
        endedAt: isoTime(state.endedAt),
        error: state.error,
      };
    case 'skipped':
    case 'cancelled':
      return { status: state.status, endedAt: isoTime(state.endedAt), reason: state.reason };
  }
}
