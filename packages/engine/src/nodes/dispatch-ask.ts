import { openConversation, TURNS_MAX } from '../interrupt/conversation.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import { settleByKind } from '../interrupt/outcome.ts';
import { suspend } from '../interrupt/suspend.ts';
import { isObject } from '../json.ts';
import { completeNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import type { Dispatch } from './dispatch-config.ts';

const QUESTION_ID = 'answer';

/** Puts the supervisor's question to the user. */
export function askUser(
  step: Step,
  node: PlanNode,
  routing: Dispatch['askUserRouting'],
  prompt: string,
): void {
  if (routing === 'clarification') {
    const questions = [{ id: QUESTION_ID, question: prompt }];
    suspend(step, node, { kind: 'clarification', data: { questions } });
    return;
  }
  const agentId = step.run.orchestrator?.agentId;
  openConversation(step, node, { prompt, turnsMax: TURNS_MAX, ...(agentId !== undefined && { agentId }) });
}

/** The answer is what the one question got, or what the conversation came to. */
export function userAnswered(step: Step, node: PlanNode, answer: Answer): void {
  const { answers, outcome } = isObject(answer.value) ? answer.value : {};
  const output = isObject(answers) ? answers[QUESTION_ID] : outcome;
  if (answer.rejected || output === undefined) settleByKind(step, node, answer);
  else completeNode(step, node, { output });
}
