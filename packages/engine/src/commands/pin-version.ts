import type { Command } from '../command.ts';
import { isReservedName } from '../json.ts';
import { emit, type Refusal, type Step } from '../step.ts';

const CHANGE_ID_LENGTH_MAX = 256;
/** The maximum number of changes per run. */
const PINS_MAX = 1_000;

type PinVersion = Extract<Command, { type: 'pinVersion' }>;

/**
 * Pins the version of a change that the run follows: `max` on the first request, then always the same, even if
 * the code has newer versions. Refused when the code no longer supports that version. The answer is in
 * `run.versions`; a repeated request writes nothing.
 */
export function pinVersion(step: Step, command: PinVersion): void {
  const { changeId, max } = command;
  const pinned = step.run.versions[changeId];
  const refusal =
    rangeIssue(command) ?? (pinned === undefined ? pinRefusal(step) : pinnedRefusal(command, pinned));
  if (refusal) step.refusal = refusal;
  else if (pinned === undefined) emit(step, 'version.pinned', { changeId, version: max });
}

function rangeIssue({ changeId, min, max }: PinVersion): Refusal | undefined {
  const refused = (message: string) => ({
    code: 'validation_error',
    message,
    details: { changeId, min, max },
  });
  if (changeId === '' || changeId.length > CHANGE_ID_LENGTH_MAX || isReservedName(changeId))
    return refused(`The id of a change must have 1 to ${CHANGE_ID_LENGTH_MAX} characters.`);
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || min > max)
    return refused('Versions must be whole numbers from 0, and min must not exceed max.');
  return;
}

function pinnedRefusal({ changeId, min, max }: PinVersion, version: number): Refusal | undefined {
  if (version >= min && version <= max) return;
  return {
    code: 'version_out_of_range',
    message: `The run is pinned to version ${version} of ${changeId}; the code knows ${min} to ${max}.`,
    details: { changeId, version, min, max },
  };
}

function pinRefusal({ run }: Step): Refusal | undefined {
  if (run.status !== 'running')
    return {
      code: 'conflict',
      message: `The run is ${run.status}; no version can be pinned now.`,
      details: { runStatus: run.status },
    };
  if (Object.keys(run.versions).length < PINS_MAX) return;
  return { code: 'validation_error', message: `A run can pin at most ${PINS_MAX} versions.` };
}
