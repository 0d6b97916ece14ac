/** The source of a supervisor's decisions. */

import type { Json, JsonObject } from '@gantry/protocol';
import { isConformance } from '../conformance-workflow.ts';
import { decisionOf, isConfidence, type OrchestratorDecision } from '../orchestrator.ts';
import type { Preparation } from './node-type.ts';

export type DecisionSource =
  /** An earlier node decides: its decision arrives at the input port `decision`. */
  | { readonly from: 'input' }
  /** Scripted in the config, one decision per turn; then it terminates. Only for conformance. */
  | {
      readonly from: 'script';
      readonly decisions: readonly OrchestratorDecision[];
      /** The turns that have a confidence: the first one if there is a pending decision, else all. */
      readonly confidence?: { readonly value: number; readonly firstTurnOnly: boolean };
    };

export interface Proposal {
  readonly decision: OrchestratorDecision;
  /** The confidence of the agent; below the threshold a person must agree. */
  readonly confidence?: number;
}

const MOCK_KEYS = ['mockDispatchPlan', 'mockDecisions', 'mockPendingDecision', 'mockConfidence'];
const SCRIPT_MAX = 1_000;

export function decisionSource(preparation: Preparation): DecisionSource {
  const { config, definition, node, issue } = preparation;
  const mayPlay = isConformance(definition);
  const mocks = MOCK_KEYS.filter((key) => key in config);
  if (!mayPlay)
    for (const key of mocks)
      issue(key, 'Scripted decisions only work in conformance workflows', 'conformance.mockAgent');
  if (mocks.length > 0) return scriptOf(preparation);
  const hasInput =
    'decision' in node.inputs ||
    definition.edges.some(
      ({ targetNodeId, targetInput }) => targetNodeId === node.id && targetInput === 'decision',
    );
  if (hasInput) return { from: 'input' };
  if (!mayPlay) issue('', 'No source of decisions: connect the input `decision`', 'agents.liveRuntime');
  return { from: 'script', decisions: [{ kind: 'next-worker', nextWorkerIds: ['conformance-noop'] }] };
}

function scriptOf(preparation: Preparation): DecisionSource {
  const { config, issue } = preparation;
  const { mockDispatchPlan, mockDecisions, mockPendingDecision, mockConfidence } = config;
  const plan = mockDispatchPlan ?? mockDecisions ?? [];
  if (!Array.isArray(plan) || plan.length > SCRIPT_MAX)
    issue('mockDispatchPlan', `It can list at most ${SCRIPT_MAX} decisions`);
  if (mockConfidence !== undefined && !isConfidence(mockConfidence))
    issue('mockConfidence', 'It must be a number from 0 to 1');
  const pending = mockPendingDecision === undefined ? [] : [mockPendingDecision];
  const listed: readonly Json[] = Array.isArray(plan) ? plan : [];
  const decisions = [...pending, ...listed.slice(pending.length)].flatMap((item) => {
    const decision = decisionOf(item);
    if (typeof decision !== 'string') return [decision];
    issue('', `Invalid scripted decision: ${decision}`);
    return [];
  });
  const firstTurnOnly = pending.length > 0;
  return {
    from: 'script',
    decisions,
    ...(isConfidence(mockConfidence) && { confidence: { value: mockConfidence, firstTurnOnly } }),
  };
}

/** The decision of the turn after `turns` earlier ones; an error text when there is none. */
export function propose(source: DecisionSource, inputs: JsonObject, turns: number): Proposal | string {
  if (source.from === 'input') {
    const decision = decisionOf(inputs.decision);
    if (typeof decision === 'string') return decision;
    const { confidence } = inputs;
    return isConfidence(confidence) ? { decision, confidence } : { decision };
  }
  const decision = source.decisions[turns] ?? { kind: 'terminate' };
  const { confidence } = source;
  const states = confidence && (turns === 0 || !confidence.firstTurnOnly);
  return states ? { decision, confidence: confidence.value } : { decision };
}
