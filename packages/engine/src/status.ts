import type { InterruptKind, RunStatus } from '@gantry/protocol';
import type { Interrupt } from './interrupt/interrupt.ts';
import type { Plan } from './plan.ts';
import { isReady } from './queries.ts';
import type { Run } from './run.ts';

const WAITING: { readonly [Kind in InterruptKind]: RunStatus } = {
  approval: 'waiting-approval',
  clarification: 'waiting-input',
  'external-event': 'waiting-external',
  custom: 'waiting-input',
  'conversation.start': 'waiting-approval',
  'conversation.exchange': 'waiting-approval',
  'conversation.close': 'waiting-approval',
  'low-confidence': 'waiting-approval',
};

/** What readers see: a run waits once nothing else in it can move. */
export function statusOf(plan: Plan, run: Run): RunStatus {
  if (run.status !== 'running') return run.status;
  const question = firstQuestion(run);
  if (!question) return 'running';
  for (const chunk of run.nodes.chunks)
    for (const { value } of chunk)
      if (value?.status === 'running' || value?.status === 'retrying') return 'running';
  return isReady(plan, run) ? 'running' : WAITING[question.interrupt.kind];
}

export interface OpenQuestion {
  readonly nodeId: string;
  readonly interrupt: Interrupt;
}

/** The question that has been open longest. */
export function firstQuestion(run: Run): OpenQuestion | undefined {
  let first: OpenQuestion | undefined;
  for (const [nodeId, interrupt] of run.interrupts) {
    if (!first || interrupt.suspendedSeq < first.interrupt.suspendedSeq) first = { nodeId, interrupt };
  }
  return first;
}
