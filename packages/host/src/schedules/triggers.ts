/** Workflow triggers of type `schedule`, as schedules. Pure. */
import { hash } from 'node:crypto';
import {
  invalid,
  type JsonObject,
  lazyValidator,
  MISSED_TICKS_DEFAULT,
  OpenwopError,
  ScheduleTriggerConfig,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { configProblem } from '../triggers/definition-sync.ts';
import { ENDED_KEPT_MS, firstTick, type ScheduleRecord, stateAt, timingOf } from './schedule.ts';

const config = lazyValidator(ScheduleTriggerConfig);

export interface TriggerIssue {
  readonly path: string;
  readonly message: string;
}

type Triggers = Pick<WorkflowDefinition, 'id' | 'triggers' | 'isActive'>;

/** One id for each trigger of a workflow, so that two processes never make two schedules of it. */
const triggerScheduleId = (workflowId: string, triggerId: string): string =>
  `trg_${hash('sha256', `${workflowId}\0${triggerId}`, 'hex').slice(0, 26)}`;

/** What is wrong with the schedule triggers of a definition, whether they are switched on or not. */
export function scheduleTriggerIssues(definition: Triggers, now: number): TriggerIssue[] {
  const issues: TriggerIssue[] = [];
  for (const [index, trigger] of definition.triggers.entries()) {
    if (trigger.type !== 'schedule') continue;
    const path = `/triggers/${index}/config`;
    try {
      readTrigger(definition.id, trigger, { registeredAt: now, now });
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      issues.push({ path, message: error.message });
    }
  }
  return issues;
}

interface Times {
  /** What delays count from. */
  readonly registeredAt: number;
  readonly now: number;
}

/** The schedules a definition asks for, by id. Triggers that can't be read are left out. */
export function triggerSchedules(definition: Triggers, times: Times): Map<string, ScheduleRecord> {
  const schedules = new Map<string, ScheduleRecord>();
  if (definition.isActive === false) return schedules;
  for (const trigger of definition.triggers) {
    if (trigger.type !== 'schedule' || trigger.enabled === false) continue;
    const record = readable(() => readTrigger(definition.id, trigger, times));
    if (record && !isForgotten(record, times.now))
      schedules.set(triggerScheduleId(definition.id, trigger.id), record);
  }
  return schedules;
}

function readTrigger(
  workflowId: string,
  trigger: Triggers['triggers'][number],
  { registeredAt, now }: Times,
): ScheduleRecord {
  const wanted = trigger.config ?? {};
  if (!config.Check(wanted)) throw invalid(configProblem(config, wanted) ?? '');
  const { inputs = {}, missedTicks = MISSED_TICKS_DEFAULT } = wanted;
  const timing = timingOf(wanted, registeredAt);
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
}

/** A delay that ended so long ago that its schedule is deleted must not begin again. */
const isForgotten = ({ timing }: ScheduleRecord, now: number): boolean =>
  timing.kind === 'once' && timing.at + ENDED_KEPT_MS <= now;

function readable(read: () => ScheduleRecord): ScheduleRecord | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof OpenwopError) return undefined;
    throw error;
  }
}
