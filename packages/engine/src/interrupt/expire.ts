import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { close } from './close.ts';
import { timeOutConversation } from './conversation.ts';
import { BY_TIMEOUT, type Interrupt } from './interrupt.ts';

export const hasExpired = ({ expiresAt = Number.POSITIVE_INFINITY }: Interrupt, now: number): boolean =>
  expiresAt <= now;

/** Time answers for everyone, and never with yes. */
export function expire(step: Step, node: PlanNode, interrupt: Interrupt): void {
  if (interrupt.kind.startsWith('conversation.')) timeOutConversation(step, node, interrupt);
  else close(step, node, { interrupt, value: null, by: BY_TIMEOUT, rejected: 'timeout' });
}
