import {
  ENGINE_VERSION,
  EVENT_LOG_SCHEMA_VERSION,
  given,
  isoTime,
  type JsonObject,
  type RunSnapshot,
} from '@gantry/protocol';
import { channelsView, nodeChannels } from './channels/access.ts';
import { seededInputs } from './inputs.ts';
import { asJson } from './json.ts';
import { maskOutputs, maskVariables } from './mask.ts';
import type { Plan, PlanNode } from './plan.ts';
import { firstInterrupt, statusOf } from './queries.ts';
import { isActive, type NodeState, type Run } from './run.ts';
import { runOutputs } from './run-end.ts';

/** The run as shown to readers: sensitive values are masked. */
export function snapshot(plan: Plan, run: Run): RunSnapshot {
  const { facts } = run;
  const { tenant, workspace, principal } = facts.owner;
  return given({
    runId: facts.runId,
    workflowId: facts.workflowId,
    status: statusOf(plan, run),
    owner: given({ tenant, workspace, principal }),
    currentNodeId: currentNodeId(plan, run),
    startedAt: timeAt(run.startedAt),
    completedAt: timeAt(run.endedAt),
    nodeStates: nodeStates(plan, run),
    inputs: maskVariables(plan, seededInputs(plan, facts)),
    variables: { ...maskVariables(plan, run.variables), ...nodeChannels(plan, run) },
    channels: channelsView(plan, run),
    outputs: run.outputs && runOutputs(plan, run).shown,
    error: run.error,
    engineVersion: String(ENGINE_VERSION),
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    tags: [...facts.tags],
    parentRunId: facts.parent?.runId,
    parentNodeId: facts.parent?.nodeId,
    sourceRunId: facts.fork?.sourceRunId,
    runOrchestrator: run.orchestrator && { agentId: run.orchestrator.agentId },
    agent: run.agent,
    metadata: facts.metadata,
    configurable: facts.configurable,
    metrics: run.cost && { openwopCost: run.cost },
  });
}

const timeAt = (at: number | undefined): string | undefined => (at === undefined ? undefined : isoTime(at));

/** The first active node in drain order; for a waiting run, the node that waits. */
function currentNodeId(plan: Plan, run: Run): string | undefined {
  if (run.status === 'running' && statusOf(plan, run) !== 'running') return firstInterrupt(run)?.nodeId;
  return plan.order.find((node) => isActive(run.nodes.get(node.id)))?.id;
}

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

/** The fields of a node that readers see, by status. */
const SHOWN: { readonly [Status in NodeState['status']]: readonly string[] } = {
  running: ['attempt', 'startedAt', 'dueAt', 'timeoutAt'],
  suspended: ['attempt', 'startedAt', 'suspendedAt'],
  retrying: ['attempt', 'retryAt', 'lastError'],
  completed: ['attempt', 'startedAt', 'endedAt'],
  failed: ['attempts', 'endedAt', 'error'],
  skipped: ['endedAt', 'reason'],
  cancelled: ['endedAt', 'reason'],
};

function stateView(plan: Plan, node: PlanNode, state: NodeState): JsonObject {
  const view: JsonObject = { status: state.status };
  for (const name of SHOWN[state.status]) {
    const value: unknown = Reflect.get(state, name);
    if (value !== undefined) view[name] = name.endsWith('At') ? isoTime(Number(value)) : asJson(value);
  }
  if (state.status === 'completed') view.outputs = maskOutputs(plan, node, state.outputs);
  return view;
}
