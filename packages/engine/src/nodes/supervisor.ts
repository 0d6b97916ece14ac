import type { JsonObject, RunError } from '@gantry/protocol';
import { settleByKind } from '../interrupt/close.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import { escalate } from '../interrupt/low-confidence.ts';
import { suspend } from '../interrupt/suspend.ts';
import { atMost } from '../limits.ts';
import { completeNode, failNode, terminateRun } from '../node-run.ts';
import { decisionOf, type OrchestratorDecision } from '../orchestrator.ts';
import type { PlanNode } from '../plan.ts';
import { failRun } from '../run-end.ts';
import { emitCaused, emitNode, type Step } from '../step.ts';
import type { NodeType, Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';
import { type DecisionSource, decisionSource, propose } from './supervisor-source.ts';

/** A decision below this confidence always needs an approval. */
const CONFIDENCE_FLOOR = 0.5;
const LOOP_ITERATIONS = 1_000;
const AGENT_ID = 'core.orchestrator.supervisor';

interface Supervisor {
  readonly agentId: string;
  readonly source: DecisionSource;
  readonly iterationCap: number;
}

/** Decides the next action of the run each time it is entered. */
export const supervisor: NodeType = {
  typeId: 'core.orchestrator.supervisor',
  outputs: ['output'],
  prepare: (preparation) => {
    const config = configOf(preparation);
    return {
      execute: ({ inputs }) => ({ kind: 'acts', act: (step, node) => takeTurn(step, node, config, inputs) }),
      answered: (step, node, answer) => answered(step, node, config, answer),
    };
  },
};

function configOf(preparation: Preparation): Supervisor {
  const agentId = preparation.node.agent?.agentId ?? AGENT_ID;
  const isId = typeof agentId === 'string' && agentId.length >= 3 && agentId.length <= 256;
  if (!isId) preparation.issue('', 'The `agentId` of a supervisor must have 3 to 256 characters');
  return {
    agentId: isId ? agentId : AGENT_ID,
    source: decisionSource(preparation),
    iterationCap: settingsOf(preparation).whole('iterationCap', 1) ?? Number.POSITIVE_INFINITY,
  };
}

function takeTurn(step: Step, node: PlanNode, config: Supervisor, inputs: JsonObject): void {
  const { agentId } = config;
  const before = step.run.orchestrator;
  if (before && before.agentId !== agentId) {
    const message = `The supervisor of this run is ${before.agentId}; ${agentId} may not decide in it.`;
    failNode(step, node, { code: 'validation_error', message }, false);
    return;
  }
  if (enforceTurns(step, node, config)) return;
  const proposal = propose(config.source, inputs, before?.iteration ?? 0);
  if (typeof proposal === 'string') {
    failNode(step, node, { code: 'validation_error', message: `No decision: ${proposal}.` }, false);
    return;
  }
  const { decision, confidence } = proposal;
  const payload: JsonObject = { agentId, decision: asPayload(decision) };
  if (confidence !== undefined) payload.confidence = confidence;
  emitNode(step, node.id, 'agent.decided', payload);
  if (!escalate(step, node, { agentId, confidence, decision: asPayload(decision) }))
    settleDecision(step, node, agentId, decision);
}

const asPayload = (decision: OrchestratorDecision): JsonObject => decision as JsonObject;

/** Ends a run whose supervisor would exceed its limit of decisions. Returns whether it did. */
function enforceTurns(step: Step, node: PlanNode, { iterationCap }: Supervisor): boolean {
  const { facts, orchestrator } = step.run;
  const observed = (orchestrator?.iteration ?? 0) + 1;
  // Runs of earlier versions have no such limit in their facts.
  const ceiling: number | undefined = facts.limits.maxLoopIterations;
  const turnsMax = atMost(ceiling ?? LOOP_ITERATIONS, facts.configurable.maxLoopIterations);
  const limit = Math.min(turnsMax, iterationCap);
  if (observed <= limit) return false;
  const kind = turnsMax <= iterationCap ? 'loop-iterations' : 'orchestrator-iterations';
  emitNode(step, node.id, 'cap.breached', { kind, limit, observed, nodeId: node.id });
  const error: RunError = {
    code: 'loop_limit_exceeded',
    message: `The supervisor decided ${limit} times, which is its limit.`,
    details: { iteration: observed, limit },
  };
  failRun(step, error, node.id);
  return true;
}

function settleDecision(
  step: Step,
  node: PlanNode,
  agentId: string,
  decision: OrchestratorDecision,
  ratified = false,
): void {
  const sequence = emitCaused(step, ratified ? undefined : step.run.nextSeq - 1, {
    type: 'runOrchestrator.decided',
    nodeId: node.id,
    payload: {
      agentId,
      decision: asPayload(decision),
      iteration: (step.run.orchestrator?.iteration ?? 0) + 1,
    },
  });
  const confidence = decision.kind === 'ask-user' ? undefined : decision.confidence;
  if (ratified || confidence === undefined || confidence >= CONFIDENCE_FLOOR) finish(step, node, decision);
  else askFirst(step, node, decision, { sequence, confidence });
}

function askFirst(
  step: Step,
  node: PlanNode,
  decision: OrchestratorDecision,
  { sequence, confidence }: { readonly sequence: number; readonly confidence: number },
): void {
  const { runId } = step.run.facts;
  const worker = decision.kind === 'next-worker' ? { workerId: decision.nextWorkerIds[0]! } : {};
  emitCaused(step, sequence, {
    type: 'core.workflowChain.confidence-escalated',
    nodeId: node.id,
    payload: {
      confidence,
      floor: CONFIDENCE_FLOOR,
      escalationKind: 'escalate',
      parentRunId: runId,
      ...worker,
      originalDecision: asPayload(decision),
    },
  });
  suspend(step, node, {
    kind: 'approval',
    data: {
      artifactId: `${runId}:${sequence}`,
      artifactType: 'orchestrator-decision',
      title: 'The supervisor is unsure: carry out its decision?',
      artifactData: asPayload(decision),
      actions: ['accept', 'reject'],
    },
  });
}

function answered(step: Step, node: PlanNode, { agentId }: Supervisor, answer: Answer): void {
  const { interrupt, value, rejected } = answer;
  if (rejected) {
    settleByKind(step, node, answer);
    return;
  }
  const asked = interrupt.kind === 'approval';
  const decision = decisionOf(asked ? step.run.orchestrator?.latest?.decision : value);
  if (typeof decision === 'string') {
    // The answer is not a decision: open the interrupt again.
    const { observed: confidence, decision: held = null } = interrupt.data;
    escalate(step, node, { agentId, confidence, decision: held });
  } else if (asked) finish(step, node, decision);
  else settleDecision(step, node, agentId, decision, true);
}

function finish(step: Step, node: PlanNode, decision: OrchestratorDecision): void {
  const outputs = { output: asPayload(decision) };
  if (decision.kind === 'terminate' && !leadsToDispatch(node)) terminateRun(step, node, outputs);
  else completeNode(step, node, outputs);
}

function leadsToDispatch(node: PlanNode, seen = new Set<PlanNode>()): boolean {
  return node.outgoing.some(({ target }) => {
    if (seen.has(target)) return false;
    seen.add(target);
    return (target.typeId === 'core.dispatch' && !target.disabled) || leadsToDispatch(target, seen);
  });
}
