import type { Command } from '../command.ts';
import type { Step } from '../step.ts';
import { pinVersion } from '../versions.ts';

/** The answer stands in `run.versions`; asking again writes nothing. */
export function askVersion(step: Step, command: Extract<Command, { type: 'pinVersion' }>): void {
  const answer = pinVersion(step, command.changeId, command.min, command.max);
  if (typeof answer !== 'number') step.refusal = answer;
}
