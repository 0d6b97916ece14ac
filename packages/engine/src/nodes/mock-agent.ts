import { type Json, type JsonObject, MockAgentConfig, type MockToolCall, misfit } from '@gantry/protocol';
import { exhaust, exhaustedBy, tellSpent } from '../budget/budget.ts';
import { isConformance } from '../conformance-workflow.ts';
import { settleByKind } from '../interrupt/close.ts';
import { escalate } from '../interrupt/low-confidence.ts';
import { asJson } from '../json.ts';
import { completeNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { emitCaused, emitNode, type Step } from '../step.ts';
import type { NodeType } from './node-type.ts';

/** Simulates an agent in the log, exactly as its config says. */
export const mockAgent: NodeType = {
  typeId: 'core.conformance.mock-agent',
  prepare({ node, config, definition, issue }) {
    if (!isConformance(definition))
      issue('', 'Mock agents are only available in conformance workflows', 'conformance.mockAgent');
    const problem = misfit(MockAgentConfig, config);
    if (problem) issue(problem.path.slice(1), problem.message);
    const script: MockAgentConfig = problem ? {} : config;
    script.mockToolCalls?.forEach(({ result, error }, position) => {
      if ((result === undefined) === (error === undefined))
        issue(`mockToolCalls/${position}`, 'A tool call must have either a result or an error');
    });
    const pinned = node.agent?.agentId;
    const agentId =
      script.agentId ?? (typeof pinned === 'string' ? pinned : `host:mock-agent:${node.id}`.slice(0, 256));
    return {
      execute: () => ({ kind: 'acts', act: (step, acting) => play(step, acting, script, agentId) }),
      answered(step, acting, answer) {
        const { nextCall } = answer.interrupt.memo ?? {};
        if (typeof nextCall === 'number') goOn(step, acting, script, agentId, nextCall);
        else if (answer.rejected) settleByKind(step, acting, answer);
        else completeNode(step, acting, {});
      },
    };
  },
};

function play(step: Step, node: PlanNode, script: MockAgentConfig, agentId: string): void {
  if (script.mockReasoning) reason(step, node, script.mockReasoning, agentId);
  goOn(step, node, script, agentId, 0);
}

function goOn(step: Step, node: PlanNode, script: MockAgentConfig, agentId: string, nextCall: number): void {
  for (const [index, call] of (script.mockToolCalls ?? []).entries()) {
    if (index < nextCall) continue;
    const exhaustion = exhaustedBy(step, 'toolCalls');
    if (exhaustion) {
      exhaust(step, node, exhaustion, { nextCall: index });
      return;
    }
    useTool(step, node, call, index, agentId);
    tellSpent(step, node, 'toolCalls', (step.run.budget?.toolCalls ?? 0) + 1);
  }
  const { mockHandoff, mockConfidence } = script;
  if (mockHandoff) {
    const { toAgentId, reason: why, context } = mockHandoff;
    const handoff: JsonObject = { fromAgentId: agentId, toAgentId };
    if (why !== undefined) handoff.reason = why;
    if (context !== undefined) handoff.context = asJson(context);
    emitNode(step, node.id, 'agent.handoff', handoff);
  }
  const decided =
    script.mockDecision ??
    (mockConfidence === undefined ? undefined : { decision: { kind: 'mock' }, confidence: mockConfidence });
  if (!decided || !decide(step, node, decided, agentId)) completeNode(step, node, {});
}

type Verbosity = 'summary' | 'full' | 'off';

function verbosityOf({ facts }: Run): Verbosity {
  const wish: Json | undefined = facts.configurable.reasoningVerbosity;
  return wish === 'full' || wish === 'off' ? wish : 'summary';
}

function reason(
  step: Step,
  node: PlanNode,
  script: NonNullable<MockAgentConfig['mockReasoning']>,
  agentId: string,
): void {
  const verbosity = verbosityOf(step.run);
  const { summary, trace, tokenCount, streamChunks } =
    typeof script === 'object' ? script : { summary: 'The agent thought about it.' };
  const chunks = verbosity === 'off' ? [] : (streamChunks ?? []);
  chunks.forEach((delta, sequence) => {
    emitNode(step, node.id, 'agent.reasoning.delta', { agentId, delta, sequence, verbosity });
  });
  const text = chunks.length > 0 ? chunks.join('') : verbosity === 'full' ? (trace ?? summary) : summary;
  const reasoned: JsonObject = { agentId, reasoning: verbosity === 'off' ? '' : text, verbosity };
  if (verbosity !== 'off') reasoned.summary = summary;
  if (tokenCount !== undefined) reasoned.tokenCount = tokenCount;
  emitNode(step, node.id, 'agent.reasoned', reasoned);
}

function useTool(step: Step, node: PlanNode, call: MockToolCall, index: number, agentId: string): void {
  const callId = `${node.id}:${step.run.visits.get(node.id) ?? 1}:${index}`;
  const base: JsonObject = { agentId, toolName: call.toolId, callId };
  const called: JsonObject =
    call.arguments === undefined ? base : { ...base, inputs: asJson(call.arguments) };
  const causeSeq = emitCaused(step, undefined, {
    type: 'agent.toolCalled',
    nodeId: node.id,
    payload: called,
  });
  const returned: JsonObject = { ...base };
  if (call.error) {
    const { error: code, message, details } = call.error;
    returned.error = { code, message, ...(details && { details: asJson(details) }) };
  } else returned.outcome = asJson(call.result);
  if (call.durationMs !== undefined) returned.durationMs = call.durationMs;
  emitCaused(step, causeSeq, { type: 'agent.toolReturned', nodeId: node.id, payload: returned });
}

/** Returns whether the decision must be ratified. */
function decide(
  step: Step,
  node: PlanNode,
  { decision: made, confidence, reasoning }: NonNullable<MockAgentConfig['mockDecision']>,
  agentId: string,
): boolean {
  const decision = asJson(made);
  const payload: JsonObject = { agentId, decision };
  if (confidence !== undefined) payload.confidence = confidence;
  if (reasoning !== undefined) payload.reasoning = reasoning;
  emitNode(step, node.id, 'agent.decided', payload);
  return escalate(step, node, { agentId, confidence, decision });
}
