/** Workflow triggers of type `schedule`, as schedules that follow from the current version of the workflow. */
import { hash } from 'node:crypto';
import { inputIssues } from '@gantry/engine';
import {
  invalid,
  type JsonObject,
  lazyValidator,
  MISSED_TICKS_DEFAULT,
  OpenwopError,
  SCHEDULE_LIMITS,
  ScheduleTriggerConfig,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { type Change, listRecords } from '@gantry/resources';
import type { Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import { type Current, configProblem } from '../triggers/definition-sync.ts';
import { ENDED_KEPT_MS, type ScheduleRecord, schedules, stateAt } from './schedule.ts';
import { firstTick, timingOf } from './timing.ts';

const { perTenantMax } = SCHEDULE_LIMITS;
const config = lazyValidator(ScheduleTriggerConfig);

type Triggers = Pick<WorkflowDefinition, 'id' | 'triggers'>;

interface Times {
  /** What delays count from. */
  readonly registeredAt: number;
  readonly now: number;
}

/** What is wrong with the schedule triggers of a definition, whether they are switched on or not. */
export function scheduleTriggerIssues(
  { id, triggers, variables }: Triggers & Pick<WorkflowDefinition, 'variables'>,
  now: number,
) {
  return triggers.flatMap((trigger, index) => {
    if (trigger.type !== 'schedule') return [];
    const path = `/triggers/${index}/config`;
    const read = scheduleOf(id, trigger, { registeredAt: now, now });
    if (read instanceof OpenwopError) return [{ path, message: read.message }];
    // Every tick would fail
    const issues = trigger.enabled === false ? [] : inputIssues(variables, read.request.inputs);
    return issues.map((issue) => ({
      path: `${path}${issue.path}`,
      message: `${issue.message}: the schedule could never start a run. Set it in \`inputs\` of the trigger, or give the variable a defaultValue`,
    }));
  });
}

/** Answers how many triggers were left out: the tenant has no room for more schedules. */
export async function syncSchedules(
  change: Change,
  entries: Store['entries'],
  workflowId: string,
  current: Current | null,
): Promise<number> {
  const { tenant } = change.caller;
  const wanted = wantedSchedules(current, change.now);
  const filter = { index: { name: 'workflowId', value: workflowId }, limit: perTenantMax };
  for (const schedule of await listRecords(entries, schedules, tenant, filter))
    if (schedule.record.source.kind === 'trigger' && !wanted.has(schedule.id)) change.delete(schedule);
  const room = Math.max(perTenantMax - (await entries.count(schedules.kind, tenant)), 0);
  let missing = 0;
  for (const [id, record] of wanted) {
    const before = await change.find(schedules, id);
    if (!before) {
      if (missing++ < room) change.create(schedules, record, id);
    } else if (askedFor(before.record) !== askedFor(record)) {
      const { lastFire, lastError, state } = before.record;
      const paused = state.status === 'paused' && { state };
      change.replace(before, { ...record, lastFire, lastError, ...paused });
    }
  }
  return Math.max(missing - room, 0);
}

/** What the definition says of a schedule, without its state. */
const askedFor = ({ timing, missedTicks, request }: ScheduleRecord): string | undefined =>
  canonicalize({ timing, missedTicks, request });

/** By id. Triggers that cannot be read are left out. */
function wantedSchedules(current: Current | null, now: number): Map<string, ScheduleRecord> {
  const wanted = new Map<string, ScheduleRecord>();
  if (!current || current.definition.isActive === false) return wanted;
  const { definition, registeredAt } = current;
  for (const trigger of definition.triggers) {
    if (trigger.type !== 'schedule' || trigger.enabled === false) continue;
    const read = scheduleOf(definition.id, trigger, { registeredAt, now });
    if (!(read instanceof OpenwopError) && !isForgotten(read, now))
      wanted.set(idOf(definition.id, trigger.id), read);
  }
  return wanted;
}

/** One id for each trigger of a workflow, so that two processes never make two schedules of it. */
const idOf = (workflowId: string, triggerId: string): string =>
  `trg_${hash('sha256', `${workflowId}\0${triggerId}`, 'hex').slice(0, 26)}`;

/** A delay whose ended schedule was deleted by retention must not start again. */
const isForgotten = ({ timing }: ScheduleRecord, now: number): boolean =>
  timing.kind === 'once' && timing.at + ENDED_KEPT_MS <= now;

/** The schedule of a trigger, or what is wrong with the trigger. */
function scheduleOf(
  workflowId: string,
  trigger: Triggers['triggers'][number],
  { registeredAt, now }: Times,
): ScheduleRecord | OpenwopError {
  const asked = trigger.config ?? {};
  if (!config.Check(asked)) return invalid(configProblem(config, asked) ?? '');
  const { inputs = {}, missedTicks = MISSED_TICKS_DEFAULT } = asked;
  try {
    const timing = timingOf(asked, registeredAt);
    return {
      timing,
      endAt: null,
      missedTicks,
      request: { workflowId, inputs: inputs as JsonObject, configurable: {}, tags: [], metadata: {} },
      source: { kind: 'trigger', triggerId: trigger.id },
      state: stateAt(firstTick(timing, null, now)),
      lastFire: null,
      lastError: null,
    };
  } catch (error) {
    if (error instanceof OpenwopError) return error;
    throw error;
  }
}
