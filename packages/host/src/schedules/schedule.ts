/** A schedule at rest: an entry whose due time is its next tick. */

import type { Schedule as ScheduleView } from '@gantry/protocol';
import { type JsonObject, OpenwopError, SCHEDULE_LIMITS, SCHEDULING_CAPABILITY } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import type { ResolvedWorkflow } from '../runtime/runtime.ts';
import { type RunRequest, shownInputs } from '../workflows/admission.ts';
import { cronIssue, isTimezone } from './cron.ts';
import { nextTick, type Ticking, type Timing } from './ticks.ts';

export const SCHEDULE_KIND = 'schedule';
const DAY_MS = 86_400_000;
/** An ended schedule can still be looked at for a while. */
export const ENDED_KEPT_MS = 30 * DAY_MS;

export type ScheduleState =
  | { readonly status: 'active'; readonly nextAt: number; readonly caughtUp: number }
  | { readonly status: 'paused' }
  | { readonly status: 'ended' };

export type ScheduleSource =
  | { readonly kind: 'api'; readonly keyId: string }
  | { readonly kind: 'trigger'; readonly triggerId: string };

export interface ScheduleRecord extends Omit<Ticking, 'nextAt' | 'caughtUp'> {
  readonly request: RunRequest;
  readonly source: ScheduleSource;
  readonly state: ScheduleState;
  readonly lastFire: {
    readonly scheduledFor: number;
    readonly firedAt: number;
    readonly runId: string;
  } | null;
  readonly lastError: {
    readonly scheduledFor: number;
    readonly failedAt: number;
    readonly code: string;
    readonly message: string;
  } | null;
}

export interface StoredSchedule {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly record: ScheduleRecord;
}

export const readSchedule = ({ tenant, id, version, createdAt, body }: Entry): StoredSchedule => ({
  tenant,
  id,
  version,
  createdAt,
  record: JSON.parse(body),
});

/** Puts the record at the next version of `stored`; a new schedule has version null. */
export function putSchedule(
  stored: Pick<StoredSchedule, 'tenant' | 'id' | 'createdAt'> & { readonly version: number | null },
  record: ScheduleRecord,
  now: number,
): Extract<Write, { kind: 'putEntry' }> {
  const { tenant, id, createdAt, version } = stored;
  const { state, request } = record;
  return {
    kind: 'putEntry',
    entry: {
      kind: SCHEDULE_KIND,
      tenant,
      id,
      createdAt,
      ref: request.workflowId,
      dueAt: state.status === 'active' ? state.nextAt : null,
      expiresAt: state.status === 'ended' ? now + ENDED_KEPT_MS : null,
      body: JSON.stringify(record),
    },
    expectedVersion: version,
  };
}

/** Waits for `nextAt`, or has ended when there is none. */
export const stateAt = (nextAt: number | null, caughtUp = 0): ScheduleState =>
  nextAt === null ? { status: 'ended' } : { status: 'active', nextAt, caughtUp };

const invalid = (field: string, problem: string, more: JsonObject = {}): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `\`${field}\` is not valid: ${problem}.`,
    details: { fields: [{ field, problem, ...more }] },
  });

/** Refuses expressions that can't be read, zones that do not exist. */
export function checkCron(cron: string, timezone: string): void {
  const issue = cronIssue(cron);
  if (issue !== null) {
    const { part, problem } = issue;
    throw invalid('cron', part ? `${part}: ${problem}` : problem, part ? { part } : {});
  }
  if (!isTimezone(timezone)) throw invalid('timezone', 'there is no such IANA time zone');
}

/** The first tick of a new schedule. Throws when there is none, or when it lies beyond the horizon. */
export function firstTick(timing: Timing, endAt: number | null, now: number): number {
  const next = timing.kind === 'once' ? timing.at : nextTick(timing, endAt, now);
  const field = timing.kind === 'once' ? 'at' : 'cron';
  if (next === null) throw invalid(field, 'it never fires');
  if (next > now + SCHEDULE_LIMITS.futureHorizonDays * DAY_MS) {
    const { maxFutureHorizon } = SCHEDULING_CAPABILITY;
    throw new OpenwopError('schedule_horizon_exceeded', { details: { maxFutureHorizon } });
  }
  return next;
}

const iso = (at: number): string => new Date(at).toISOString();

export function viewOf(
  { id, createdAt, record }: Omit<StoredSchedule, 'version' | 'tenant'>,
  workflow: ResolvedWorkflow | null,
): ScheduleView {
  const { request, timing, endAt, missedTicks, source, state, lastFire, lastError } = record;
  return {
    scheduleId: id,
    workflowId: request.workflowId,
    status: state.status,
    ...(timing.kind === 'cron' ? { cron: timing.cron, timezone: timing.timezone } : { at: iso(timing.at) }),
    ...(endAt !== null && { endAt: iso(endAt) }),
    missedTicks,
    ...(source.kind === 'trigger' && { triggerId: source.triggerId }),
    inputs: shownInputs(workflow, request.inputs),
    configurable: request.configurable,
    tags: [...request.tags],
    metadata: request.metadata,
    createdAt: iso(createdAt),
    ...(state.status === 'active' && { nextFireAt: iso(state.nextAt) }),
    ...(lastFire && {
      lastFire: { ...lastFire, scheduledFor: iso(lastFire.scheduledFor), firedAt: iso(lastFire.firedAt) },
    }),
    ...(lastError && {
      lastError: {
        ...lastError,
        scheduledFor: iso(lastError.scheduledFor),
        failedAt: iso(lastError.failedAt),
      },
    }),
  };
}
