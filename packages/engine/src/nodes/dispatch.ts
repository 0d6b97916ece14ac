import type { JsonObject, RunError } from '@gantry/protocol';
import { beginChildren, openChildren, openingOf } from '../children/chain.ts';
import { childFailure, childView, type EndedChild } from '../children/child.ts';
import { childrenOf } from '../children/fold-children.ts';
import { mergeHarvests } from '../children/mapping.ts';
import { settleByKind } from '../interrupt/close.ts';
import { openConversation, TURNS_MAX } from '../interrupt/conversation.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { isObject } from '../json.ts';
import { completeNode, failNode, terminateRun } from '../node-run.ts';
import { decisionOf, type OrchestratorDecision, terminationOf } from '../orchestrator.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { failRun } from '../run-end.ts';
import { emitCaused, emitNode, type Step } from '../step.ts';
import { type Dispatch, dispatchConfig } from './dispatch-config.ts';
import { joinChildren } from './dispatch-join.ts';
import { failed, type NodeType, type Result } from './node-type.ts';

/** Executes the supervisor's latest decision. */
export const dispatch: NodeType = {
  typeId: 'core.dispatch',
  outputs: ['childRunId', 'childStatus', 'error', 'joinOutcome', 'children', 'output'],
  prepare: (preparation) => {
    const config = dispatchConfig(preparation);
    return {
      execute: ({ run }) => carryOut(run, config),
      children: config.terms,
      childEnded: (step, node, child) => childEnded(step, node, config, child),
      answered: userAnswered,
    };
  },
};

function carryOut(run: Run, config: Dispatch): Result {
  const latest = run.orchestrator?.latest;
  const decision = latest?.takenBy === undefined ? decisionOf(latest?.decision) : 'taken';
  if (!latest || typeof decision === 'string')
    return failed('no_pending_decision', 'There is no pending decision.');
  const { sequence } = latest;
  switch (decision.kind) {
    case 'terminate':
      return { kind: 'acts', act: (step, node) => terminateRun(step, node, terminationOf(step.run)) };
    case 'ask-user':
      return {
        kind: 'acts',
        act: (step, node) => askUser(step, node, config.askUserRouting, decision.prompt),
      };
    case 'next-worker':
      return refusalOf(decision, config) ?? { kind: 'acts', act: startWorkers(decision, config, sequence) };
  }
}

type NextWorker = Extract<OrchestratorDecision, { kind: 'next-worker' }>;

function refusalOf({ nextWorkerIds }: NextWorker, { fanOut }: Dispatch): Result | undefined {
  const workers = nextWorkerIds.length;
  if (fanOut.policy === 'reject' && workers > 1)
    return failed('fan_out_unsupported', `The decision names ${workers} workers; this node takes one.`);
  if (fanOut.policy === 'parallel' && fanOut.join.mode === 'quorum' && fanOut.join.quorum > workers)
    return failed(
      'validation_error',
      `${fanOut.join.quorum} of ${workers} workers can never complete: the quorum is too large.`,
    );
  return;
}

function startWorkers(
  { nextWorkerIds: workers }: NextWorker,
  config: Dispatch,
  causeSeq: number,
): (step: Step, node: PlanNode) => void {
  return (step, node) => {
    if (enforceIterations(step, node, config, workers.length)) return;
    const { fanOut } = config;
    if (fanOut.policy !== 'parallel') openChildren(step, node, { workers, concurrency: 1, causeSeq });
    else if (workers.length === 1) openChildren(step, node, { workers, concurrency: 1, causeSeq });
    else fanOutTo(step, node, fanOut, workers, causeSeq);
  };
}

function fanOutTo(
  step: Step,
  node: PlanNode,
  { concurrency, join }: Extract<Dispatch['fanOut'], { policy: 'parallel' }>,
  workers: readonly string[],
  causeSeq: number,
): void {
  emitCaused(step, causeSeq, {
    type: 'core.dispatch.fanOut',
    nodeId: node.id,
    payload: {
      fanOutPolicy: 'parallel',
      childCount: workers.length,
      maxConcurrency: concurrency,
      joinMode: join.mode,
    },
    sealed: openingOf(step, node, workers, causeSeq),
  });
  beginChildren(step, node, concurrency);
}

/** Ends a run that would dispatch more children than allowed, before any is dispatched. Returns whether it did. */
function enforceIterations(step: Step, node: PlanNode, { iterationCap }: Dispatch, workers: number): boolean {
  const observed = (step.run.orchestrator?.dispatched ?? 0) + workers;
  if (observed <= iterationCap) return false;
  const payload: JsonObject = {
    kind: 'dispatch-iterations',
    limit: iterationCap,
    observed,
    nodeId: node.id,
  };
  emitNode(step, node.id, 'cap.breached', payload);
  const error: RunError = {
    code: 'loop_limit_exceeded',
    message: `The run may dispatch ${iterationCap} children, and this would be number ${observed}.`,
    details: { iteration: observed, limit: iterationCap },
  };
  failRun(step, error, node.id);
  return true;
}

function childEnded(step: Step, node: PlanNode, config: Dispatch, child: EndedChild): void {
  const { fanOut, terms } = config;
  if (fanOut.policy === 'parallel') {
    joinChildren(step, node, terms, fanOut);
    return;
  }
  if (child.status !== 'completed') {
    failNode(step, node, childFailure(child), false);
    return;
  }
  const { outputs } = terms.mappingOf(child.workflowId);
  const refusal = mergeHarvests(step, node, [{ child, outputs, variables: child.variables ?? {} }]);
  if (refusal) failNode(step, node, refusal, false);
  else if (childrenOf(step.run, node.id)?.children.some(({ status }) => status === 'queued'))
    beginChildren(step, node, 1);
  else completeNode(step, node, childView(child));
}

const QUESTION_ID = 'answer';

/** Asks the user the supervisor's question. */
function askUser(step: Step, node: PlanNode, routing: Dispatch['askUserRouting'], prompt: string): void {
  if (routing === 'clarification') {
    const questions = [{ id: QUESTION_ID, question: prompt }];
    suspend(step, node, { kind: 'clarification', data: { questions } });
    return;
  }
  const agentId = step.run.orchestrator?.agentId;
  openConversation(step, node, { prompt, turnsMax: TURNS_MAX, ...(agentId !== undefined && { agentId }) });
}

/** The output is the answer to the question, or the outcome of the conversation. */
function userAnswered(step: Step, node: PlanNode, answer: Answer): void {
  const { answers, outcome } = isObject(answer.value) ? answer.value : {};
  const output = isObject(answers) ? answers[QUESTION_ID] : outcome;
  if (answer.rejected || output === undefined) settleByKind(step, node, answer);
  else completeNode(step, node, { output });
}
