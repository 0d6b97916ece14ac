/** What a request for a schedule asks for. */
import { type CreateScheduleRequest, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { RunRequest } from '../workflows/admission.ts';
import { checkCron } from './schedule.ts';
import type { Timing } from './ticks.ts';

const invalid = (message: string, field: string): OpenwopError =>
  new OpenwopError('validation_error', { message, details: { fields: [{ field, problem: message }] } });

/** An instant that fits its pattern can still be no day of the calendar. */
export function instant(text: string, field: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalid(`\`${field}\` is no time of the calendar.`, field);
  return at;
}

type WantedTiming = Pick<CreateScheduleRequest, 'cron' | 'timezone' | 'at' | 'delayMs'>;

export function timingOf({ cron, at, delayMs, timezone }: WantedTiming, now: number): Timing {
  const given = [cron, at, delayMs].filter((value) => value !== undefined).length;
  if (given !== 1) throw invalid('Give exactly one of `cron`, `at` and `delayMs`.', 'cron');
  if (cron !== undefined) {
    checkCron(cron, timezone ?? 'UTC');
    return { kind: 'cron', cron, timezone: timezone ?? 'UTC' };
  }
  if (timezone !== undefined) throw invalid('`timezone` belongs to `cron`.', 'timezone');
  return { kind: 'once', at: at === undefined ? now + (delayMs ?? 0) : instant(at, 'at') };
}

export function requestOf(body: CreateScheduleRequest): RunRequest {
  const { workflowId, inputs = {}, configurable = {}, tags = [], metadata = {} } = body;
  return {
    workflowId,
    tags,
    inputs: inputs as JsonObject,
    configurable: configurable as JsonObject,
    metadata: metadata as JsonObject,
  };
}
