import type { Command } from '../command.ts';
import type { Step } from '../step.ts';
import { changeVariables, refusalOf } from '../variable-writes.ts';

/** No event may occur between `run.paused` and `run.resumed`, and an ended run does not change. */
export function setVariables(step: Step, { variables }: Extract<Command, { type: 'setVariables' }>): void {
  const { status } = step.run;
  const refusal =
    status === 'running'
      ? refusalOf(step.plan, variables)
      : { code: 'conflict', message: `The run is ${status}; its variables cannot be changed.` };
  if (refusal) step.refusal = refusal;
  else changeVariables(step, undefined, variables);
}
