/** Converts answers to interrupts of pack code to the return value of `ctx.suspend`. */
import { isoTime, type Json, type JsonObject } from '@gantry/protocol';
import { isObject, own } from '../json.ts';
import { questionsOf } from './clarification.ts';
import type { Interrupt } from './interrupt.ts';
import { approvalAnswer } from './pack-approval.ts';

export interface HeardAnswer {
  readonly value: Json;
  readonly by: string;
  readonly at: number;
  readonly rejected: 'reject' | 'timeout' | undefined;
}

/** The return value of `ctx.suspend(...)`, with the fields that packs of both dialects read. */
export function packAnswer(
  { kind, data, memo = {} }: Interrupt,
  { value, by, at, rejected }: HeardAnswer,
): Json {
  const when = isoTime(at);
  if (rejected === 'timeout')
    return { timedOut: true, decision: 'timeout', approved: false, decidedAt: when };
  const fields = isObject(value) ? value : {};
  if (kind === 'approval') return approvalAnswer(fields, memo.decisions, by, when);
  if (kind === 'clarification') {
    const answers = isObject(fields.answers) ? fields.answers : {};
    const listed = memo.isListed && { answers: questionsOf(data).map(({ id }) => own(answers, id) ?? '') };
    return { ...fields, ...listed, answer: answers.answer ?? '', ...answeredBy(by, when) };
  }
  // Gates read their answers, reviews a decision at the top
  if (data.customKind === 'conversation-input')
    return { ...fields, answers: value, respondent: by, submittedAt: when, respondedAt: when };
  return isObject(value) ? { respondedBy: by, respondedAt: when, ...value } : value;
}

const answeredBy = (by: string, when: string): JsonObject => ({
  answeredBy: by,
  answeredAt: when,
  respondent: by,
  submittedAt: when,
});
