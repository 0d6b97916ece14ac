import { drain } from '../drain.ts';
import type { Step } from '../step.ts';

export function advance(step: Step, maxEvents: number): void {
  if (step.run.status === 'running') drain(step, maxEvents);
}
