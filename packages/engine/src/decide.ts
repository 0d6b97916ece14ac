import type { RunEvent } from '@gantry/protocol';
import type { Command } from './command.ts';
import { advance } from './commands/advance.ts';
import { cancel } from './commands/cancel.ts';
import { pause } from './commands/pause.ts';
import { resume } from './commands/resume.ts';
import { settle } from './commands/settle.ts';
import { start } from './commands/start.ts';
import { wake } from './commands/wake.ts';
import { enforceDeadline } from './limits.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';
import { openStep, type Step } from './step.ts';

export interface Decision {
  readonly events: RunEvent[];
  /** The run with the events folded in. */
  readonly run: Run;
}

/** What a command makes of a run. One that does not apply gives no events; the run given is never changed. */
export function decide(plan: Plan, run: Run, command: Command): Decision {
  const step = openStep(plan, run, command.now);
  if (!enforceDeadline(step)) act(step, command);
  return { events: step.events, run: step.events.length === 0 ? run : step.run };
}

function act(step: Step, command: Command): void {
  switch (command.type) {
    case 'start':
      start(step);
      break;
    case 'advance':
      advance(step, command.maxEvents);
      break;
    case 'wake':
      wake(step, command.maxEvents);
      break;
    case 'settle':
      settle(step, command);
      break;
    case 'cancel':
      cancel(step, command);
      break;
    case 'pause':
      pause(step, command);
      break;
    case 'resume':
      resume(step, command);
      break;
  }
}
