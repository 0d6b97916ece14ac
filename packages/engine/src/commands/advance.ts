import type { Command } from '../command.ts';
import { drain } from '../drain.ts';
import type { Step } from '../step.ts';

export function advance(step: Step, { maxEvents }: Extract<Command, { type: 'advance' }>): void {
  if (step.run.status === 'running') drain(step, maxEvents);
}
