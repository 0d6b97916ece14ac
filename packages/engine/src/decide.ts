import type { RunEvent } from '@gantry/protocol';
import { type MadeArtifact, registerArtifact } from './artifacts/artifact.ts';
import type { Command } from './command.ts';
import { advance } from './commands/advance.ts';
import { cancel } from './commands/cancel.ts';
import { childEnded } from './commands/child-ended.ts';
import { childrenStarted } from './commands/children-started.ts';
import { emitFrom } from './commands/emit.ts';
import { pause } from './commands/pause.ts';
import { pinVersion } from './commands/pin-version.ts';
import { resolve } from './commands/resolve.ts';
import { resume } from './commands/resume.ts';
import { setVariables } from './commands/set-variables.ts';
import { settle } from './commands/settle.ts';
import { start } from './commands/start.ts';
import { wake } from './commands/wake.ts';
import { writeChannel } from './commands/write-channel.ts';
import { enforceDeadline } from './limits.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';
import { openStep, type Refusal, type Step } from './step.ts';

export interface Decision {
  readonly events: RunEvent[];
  /** The run with the events folded in. */
  readonly run: Run;
  /** Artifacts to store in the commit of the events. */
  readonly artifacts?: readonly MadeArtifact[];
  /**
   * Why the command was refused, if there is more to report than that it did not apply. A refusal may come with
   * events, which must still be committed: the refusal is recorded, or the run exceeded its time limit.
   */
  readonly refusal?: Refusal;
}

/** Applies a command to a run. A command that does not apply gives no events. The given run is never changed. */
export function decide(plan: Plan, run: Run, command: Command): Decision {
  const step = openStep(plan, run, command.now);
  if (!enforceDeadline(step)) ACTS[command.type](step, command as never);
  else if (command.type === 'resolve')
    step.refusal = {
      code: 'run_terminal',
      message: 'The run has exceeded its time limit and accepts no answer.',
    };
  const { events, artifacts, refusal } = step;
  const result: Decision = events.length > 0 ? { events, run: step.run } : { events, run };
  if (artifacts.length === 0 && !refusal) return result;
  return { ...result, ...(artifacts.length > 0 && { artifacts }), ...(refusal && { refusal }) };
}

type Acts = {
  readonly [Type in Command['type']]: (step: Step, command: Extract<Command, { type: Type }>) => void;
};

const ACTS: Acts = {
  start,
  advance,
  wake,
  settle,
  emit: emitFrom,
  resolve,
  childrenStarted,
  childEnded,
  writeChannel,
  setVariables,
  registerArtifact,
  pinVersion,
  cancel,
  pause,
  resume,
};
