import { given, type JsonObject, type RunError } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { textAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import type { Answer } from './interrupt.ts';

/** A reason in a message is cut here; `details` has all of it. */
const REASON_MAX = 500;

interface Rejection {
  readonly by: string;
  readonly reason?: string;
}

/** The error of a rejected approval: who rejected it, and why. `subject` begins the message. */
export function rejectionError(node: PlanNode, answer: Answer, subject: string): RunError {
  const { value, rejected, by: decidedBy } = answer;
  const code = 'approval_rejected';
  if (rejected === 'timeout')
    return { code, message: `${subject} timed out.`, details: { reason: 'timeout', decidedBy } };
  const fields = isObject(value) ? value : {};
  const isSecret = ['output', 'reason', 'feedback', 'comment'].some((name) =>
    node.sensitiveOutputs.has(name),
  );
  const rejections = rejectionsIn(fields, decidedBy).map(({ by, reason }) =>
    given({ by, reason: isSecret ? undefined : reason }),
  );
  const message = `${subject} was rejected by ${rejections.map(inWords).join(' and ')}.`;
  const feedback = isSecret ? '' : textAt(fields, 'reason');
  const details = { reason: 'reject', decidedBy, rejections, ...(feedback !== '' && { feedback }) };
  return { code, message, details };
}

/** Those who voted against it, or the one who decided alone. */
function rejectionsIn(fields: JsonObject, decidedBy: string): Rejection[] {
  const votes = Array.isArray(fields.votes) ? fields.votes.filter(isObject) : [];
  const against = votes.filter(({ approve }) => approve === false);
  const rejection = (by: string, reason: string): Rejection => (reason === '' ? { by } : { by, reason });
  if (against.length === 0) return [rejection(decidedBy, textAt(fields, 'reason'))];
  return against.map((vote) => rejection(textAt(vote, 'voter'), textAt(vote, 'comment')));
}

function inWords({ by, reason }: Rejection): string {
  if (reason === undefined) return by;
  return `${by} ("${reason.length > REASON_MAX ? `${reason.slice(0, REASON_MAX)}…` : reason}")`;
}
