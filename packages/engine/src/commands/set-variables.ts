import type { Command } from '../command.ts';
import type { Step } from '../step.ts';
import { changeVariables, refusalOf } from '../variable-writes.ts';

/** Between `run.paused` and `run.resumed` stands nothing, and an ended run stays as it is. */
export function setVariables(step: Step, { variables }: Extract<Command, { type: 'setVariables' }>): void {
  const { status } = step.run;
  const refusal =
    status === 'running'
      ? refusalOf(step.plan, variables)
      : { code: 'conflict', message: `The run is ${status}; its variables cannot be changed.` };
  if (refusal) step.refusal = refusal;
  else changeVariables(step, undefined, variables);
}
