import type { Json, JsonObject } from '@gantry/protocol';
import { isObject } from '../json.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import type { Step } from '../step.ts';
import { close } from './close.ts';
import { invalid, type TakeAnswer } from './refusal.ts';
import { suspend } from './suspend.ts';

const THRESHOLD = 0.7;

/** An agent's decision below this confidence must be ratified. */
function escalationThreshold(run: Run): number {
  const wish = run.facts.configurable.escalationThreshold;
  return typeof wish === 'number' && wish >= 0 && wish <= 1 ? wish : THRESHOLD;
}

/** Requests ratification if the agent's confidence is too low; a decision without a confidence is not escalated. */
export function escalate(
  step: Step,
  node: PlanNode,
  { agentId, confidence, decision }: { agentId: string; confidence: Json | undefined; decision: Json },
): boolean {
  const threshold = escalationThreshold(step.run);
  if (typeof confidence !== 'number' || !Number.isFinite(confidence) || confidence >= threshold) return false;
  suspend(step, node, {
    kind: 'low-confidence',
    data: { agentId, threshold, observed: confidence, decision },
    reason: 'low-confidence',
    suspendedWith: { agentId, threshold, observed: confidence },
  });
  return true;
}

/** Ratifies the agent's decision, replaces it, or rejects it. */
export const answerLowConfidence: TakeAnswer = (step, node, interrupt, { by, resumeValue }) => {
  const action = isObject(resumeValue) ? resumeValue.action : undefined;
  if (action !== undefined && action !== 'accept' && action !== 'reject')
    return invalid('/action', 'choose accept or reject.');
  const value = ratified(interrupt.data, resumeValue);
  const rejected = action === 'reject' ? ({ rejected: 'reject' } as const) : {};
  close(step, node, { interrupt, value, by: by.principal, ...rejected });
  return;
};

function ratified(data: JsonObject, value: Json): Json {
  if (!isObject(value)) return value;
  if (value.decision !== undefined) return value.decision;
  return value.action === undefined ? value : (data.decision ?? null);
}
