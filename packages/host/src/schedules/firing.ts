/**
 * What happens when a schedule falls due.
 *
 * I1  A tick's run and the schedule's next due time are one commit: a tick fires once, whichever process fires it and
 *     whenever that process dies.
 * I2  A tick that cannot become a run is recorded on the schedule, which goes on, and is a dead letter.
 */
import { isoTime, type JsonObject, type RunOwner, runOwnerOf } from '@gantry/protocol';
import type { Stored } from '@gantry/resources';
import { type DeadLetterRecord, deadLetters, type Retention } from '../dead-letters/dead-letter.ts';
import type { Parts } from '../parts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Admitting, admit, isFinal } from '../workflows/admission.ts';
import { type ScheduleRecord, stateAt } from './schedule.ts';
import { dueTick } from './ticks.ts';

const ACTOR = 'schedules';

export interface FiringOptions extends Retention, Pick<Parts, 'changes' | 'log'> {
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Admitting;
}

/**
 * Fires what the schedule is due for at `now`. False when no run was started: it is not due, its tick was missed and
 * skipped or could not become a run, or another process was first. Throws, and changes nothing, when the host is at its
 * capacity or the store fails.
 */
export async function fire(
  options: FiringOptions,
  stored: Stored<ScheduleRecord>,
  now: number,
): Promise<boolean> {
  const { changes, log } = options;
  const { tenant, id: scheduleId, record } = stored;
  const { state } = record;
  if (state.status !== 'active' || state.nextAt > now) return false;
  const tick = dueTick({ ...record, nextAt: state.nextAt, caughtUp: state.caughtUp }, now);
  let next: ScheduleRecord = { ...record, state: stateAt(tick.nextAt, tick.caughtUp) };
  if (tick.fire !== null)
    try {
      return await createRun(options, stored, next, { scheduledFor: tick.fire, firedAt: now });
    } catch (error) {
      if (!isFinal(error)) throw error;
      const { code, message } = error;
      log.warn({ tenant, scheduleId, code, reason: message }, 'a schedule could not start its run');
      const failures = (record.lastError?.failures ?? 0) + 1;
      next = { ...next, lastError: { scheduledFor: tick.fire, failedAt: now, code, message, failures } };
      const letter = letterOf(stored, next.lastError!, now + options.retentionMs);
      await changes.settle(ACTOR, stored, next, (change) =>
        change.put(deadLetters, letter, letterId(stored)),
      );
      return false;
    }
  await changes.settle(ACTOR, stored, next);
  return false;
}

/** One letter for each schedule, however often it fails: a schedule of every second must not fill the list. */
const letterId = ({ id }: Stored<ScheduleRecord>): string => `${deadLetters.idPrefix}_${id}`;

const letterOf = (
  { id: scheduleId, record }: Stored<ScheduleRecord>,
  { code, message, failures, scheduledFor }: NonNullable<ScheduleRecord['lastError']>,
  until: number,
): DeadLetterRecord => ({
  type: 'schedule',
  scheduleId,
  workflowId: record.request.workflowId,
  scheduledFor: isoTime(scheduledFor),
  reason: code,
  message,
  attempts: failures,
  until,
});

async function createRun(
  { changes, runtime, workflows }: FiringOptions,
  stored: Stored<ScheduleRecord>,
  next: ScheduleRecord,
  at: { readonly scheduledFor: number; readonly firedAt: number },
): Promise<boolean> {
  const { id, record } = stored;
  const scheduledFor = isoTime(at.scheduledFor);
  const run = await admit(workflows, ownerOf(stored), record.request);
  const causationId = `${id}@${scheduledFor}`;
  const triggerData: JsonObject = {
    source: 'schedule',
    subscriptionId: id,
    deliveryId: causationId,
    receivedAt: isoTime(at.firedAt),
    scheduledFor,
  };
  const result = await runtime.create(
    { ...run, causationId, triggerData },
    {
      commit: (writes, { facts: { runId } }) => {
        const fired = { ...next, lastFire: { ...at, runId }, lastError: null };
        return changes.settle(ACTOR, stored, fired, (change) => change.add(...writes));
      },
    },
  );
  return result.kind === 'created';
}

const ownerOf = ({ tenant, workspace, record: { source } }: Stored<ScheduleRecord>): RunOwner =>
  runOwnerOf({ tenant, workspace, principal: source.kind === 'api' ? source.principal : null });
