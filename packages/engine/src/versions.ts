import { isReservedName } from './json.ts';
import { emit, type Refusal, type Step } from './step.ts';

const CHANGE_ID_LENGTH_MAX = 256;
/** Changes that one run asks about. */
const PINS_MAX = 1_000;

/**
 * Which version of a change the run follows: `max` at the first question, then always the same, however far
 * the code has moved on. Answers why not when the code no longer knows that version.
 * @example pinVersion(step, 'retry-rules', 1, 3) // 3, and after an upgrade to 4 still 3
 */
export function pinVersion(step: Step, changeId: string, min: number, max: number): number | Refusal {
  const wrong = questionIssue(changeId, min, max);
  if (wrong) return { code: 'validation_error', message: wrong, details: { changeId, min, max } };
  const pinned = step.run.versions[changeId];
  if (pinned !== undefined)
    return pinned >= min && pinned <= max ? pinned : outOfRange(changeId, pinned, min, max);
  const refusal = pinRefusal(step);
  if (refusal) return refusal;
  emit(step, 'version.pinned', { changeId, version: max });
  return max;
}

function questionIssue(changeId: string, min: number, max: number): string | undefined {
  if (changeId === '' || changeId.length > CHANGE_ID_LENGTH_MAX || isReservedName(changeId))
    return `The id of a change has 1 to ${CHANGE_ID_LENGTH_MAX} characters.`;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || min > max)
    return 'Versions are whole numbers from 0, and min is not above max.';
  return;
}

function outOfRange(changeId: string, version: number, min: number, max: number): Refusal {
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
  return { code: 'validation_error', message: `A run pins at most ${PINS_MAX} versions.` };
}
