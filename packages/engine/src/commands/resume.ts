import type { Command } from '../command.ts';
import { emit, type Step } from '../step.ts';

export function resume(step: Step, command: Extract<Command, { type: 'resume' }>): void {
  if (step.run.status !== 'paused') return;
  emit(step, 'run.resumed', command.reason === undefined ? {} : { reason: command.reason });
}
