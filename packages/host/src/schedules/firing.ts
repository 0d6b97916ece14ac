/**
 * What happens when a schedule falls due.
 *
 * I1  A tick's run and the schedule's next due time are one commit: a tick fires once, in whatever process, whenever
 *     it dies.
 * I2  A tick that can't become a run is recorded on the schedule, which goes on.
 */
import { isoTime, type JsonObject, type RunOwner } from '@gantry/protocol';
import { fromEntry, type Stored } from '@gantry/resources';
import type { Entry } from '@gantry/store';
import type { Parts } from '../parts.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import { admit, isFinal } from '../workflows/admission.ts';
import { schedules } from './resource.ts';
import { type ScheduleRecord, stateAt } from './schedule.ts';
import { type DueTick, dueTick } from './ticks.ts';

export interface FiringOptions extends Pick<Parts, 'changes' | 'log'> {
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
}

export type Fired =
  | { readonly kind: 'fired'; readonly runId: string }
  /** The tick was missed and passed over, or could not become a run. */
  | { readonly kind: 'passed' }
  /** Not due, or another process was first. */
  | { readonly kind: 'none' };

const NONE: Fired = { kind: 'none' };
const ACTOR = 'schedules';

/** Fires what `entry` is due for at `now`. Throws when the host has no room or no disk: nothing happened then. */
export async function fire(options: FiringOptions, entry: Entry, now: number): Promise<Fired> {
  const stored = fromEntry(schedules, entry);
  const { record } = stored;
  const { state } = record;
  if (state.status !== 'active' || state.nextAt > now) return NONE;
  const tick = dueTick({ ...record, nextAt: state.nextAt, caughtUp: state.caughtUp }, now);
  const next: ScheduleRecord = { ...record, state: stateAt(tick.nextAt, tick.caughtUp) };
  if (tick.fire === null) return pass(options, stored, next);
  try {
    return await createRun(options, stored, next, tick.fire, now);
  } catch (error) {
    if (!isFinal(error)) throw error;
    const { code, message } = error;
    const { tenant, id: scheduleId } = stored;
    options.log.warn({ tenant, scheduleId, code, reason: message }, 'a schedule could not start its run');
    const lastError = { scheduledFor: tick.fire, failedAt: now, code, message };
    return pass(options, stored, { ...next, lastError });
  }
}

async function createRun(
  { changes, runtime, workflows }: FiringOptions,
  stored: Stored<ScheduleRecord>,
  next: ScheduleRecord,
  scheduledFor: NonNullable<DueTick['fire']>,
  now: number,
): Promise<Fired> {
  const { id, tenant, record } = stored;
  const run = await admit(workflows, ownerOf(tenant, record), record.request);
  const causationId = `${id}@${isoTime(scheduledFor)}`;
  const triggerData: JsonObject = {
    source: 'schedule',
    subscriptionId: id,
    deliveryId: causationId,
    receivedAt: isoTime(now),
    scheduledFor: isoTime(scheduledFor),
  };
  const result = await runtime.create(
    { ...run, causationId, triggerData },
    {
      commit: (writes, { facts: { runId } }) => {
        const fired = { ...next, lastFire: { scheduledFor, firedAt: now, runId }, lastError: null };
        return changes.settle(ACTOR, stored, fired, (change) => change.add(...writes));
      },
    },
  );
  return result.kind === 'created' ? { kind: 'fired', runId: result.runId } : NONE;
}

const ownerOf = (tenant: string, { source }: ScheduleRecord): RunOwner =>
  source.kind === 'api' ? { tenant, principal: source.keyId } : { tenant };

const pass = async (
  { changes }: FiringOptions,
  stored: Stored<ScheduleRecord>,
  next: ScheduleRecord,
): Promise<Fired> => ((await changes.settle(ACTOR, stored, next)) ? { kind: 'passed' } : NONE);
