/**
 * Channel-write triggers of a workflow, and which of them a batch of events fires. The shell starts the runs.
 *
 * I1 A trigger never fires on its own lineage. A run does not show whether it descends from a trigger through
 *    several runs, so the rule is stricter than necessary: only a run that has no parent and was not started by
 *    a channel-write trigger fires any. Writes of another run count as that run's own, and the shell marks them
 *    with `fromTrigger`.
 */
import { eventId, type JsonObject, type RunEvent, type WorkflowDefinition } from '@gantry/protocol';
import type { Compilation } from '../compilation.ts';
import type { Decision } from '../decide.ts';
import type { Plan } from '../plan.ts';
import type { RunFacts } from '../run.ts';
import { inheritedTrust } from '../trust.ts';

const ORIGINS = ['any', 'child', 'parent'] as const;
const DEBOUNCE_MS_MAX = 60_000;

export interface ChannelTrigger {
  readonly triggerId: string;
  readonly channel: string;
  /** `child`: writes from other runs and engines only; `parent`: the run's own only. */
  readonly onlyFrom: (typeof ORIGINS)[number];
  /** Fires once this long after the last write of a burst; 0 fires on every write. */
  readonly debounceMs: number;
  readonly nodeId?: string;
}

export interface TriggerFiring {
  readonly trigger: ChannelTrigger;
  /** The event that fired it; the `causationId` of the run to start. */
  readonly eventId: string;
  /** When to start, unless another write follows before. */
  readonly dueAt: number;
  /** `triggerData` of the run to start; `isFromTrigger` recognizes the run by it. */
  readonly data: JsonObject;
  /** Set if an untrusted run wrote. */
  readonly contentTrust?: 'untrusted';
}

/** The enabled channel-write triggers of a workflow; they were validated when it was compiled. */
export const channelTriggers = (plan: Plan): ChannelTrigger[] =>
  plan.definition.triggers.flatMap((trigger) =>
    trigger.type === 'channel-write' && trigger.enabled !== false ? [triggerOf(trigger)] : [],
  );

type Trigger = WorkflowDefinition['triggers'][number];

function triggerOf({ id, config = {}, nodeId }: Trigger): ChannelTrigger {
  return {
    triggerId: id,
    channel: String(config.channel),
    onlyFrom: ORIGINS.find((origin) => origin === config.onlyFrom) ?? 'any',
    debounceMs: Number(config.debounceMs ?? 0),
    ...(nodeId !== undefined && { nodeId }),
  };
}

export function checkTriggers(compilation: Compilation): void {
  const { definition, channels } = compilation;
  definition.triggers.forEach(({ type, config = {}, nodeId }, position) => {
    if (type !== 'channel-write') return;
    const path = `/triggers/${position}`;
    const { channel, onlyFrom = 'any', debounceMs = 0 } = config;
    if (typeof channel !== 'string' || channels.get(channel)?.origin !== 'declared')
      compilation.issue(`${path}/config/channel`, 'channel must name a channel of the workflow');
    if (!ORIGINS.some((origin) => origin === onlyFrom))
      compilation.issue(`${path}/config/onlyFrom`, `onlyFrom must be one of ${ORIGINS.join(', ')}`);
    if (!Number.isInteger(debounceMs) || Number(debounceMs) < 0 || Number(debounceMs) > DEBOUNCE_MS_MAX)
      compilation.issue(
        `${path}/config/debounceMs`,
        `debounceMs must be a whole number from 0 to ${DEBOUNCE_MS_MAX}`,
      );
    if (nodeId !== undefined) compilation.checkNodeId(`${path}/nodeId`, nodeId);
  });
}

/** Whether a channel-write trigger started the run. */
export const isFromTrigger = (facts: RunFacts): boolean => facts.triggerData?.type === 'channel-write';

/**
 * The triggers that the events of a decision fire: once per write, or with a debounce once for the last write
 * of the batch.
 */
export function triggersFiredBy(plan: Plan, { run, events }: Decision): TriggerFiring[] {
  if (run.facts.parent || isFromTrigger(run.facts)) return [];
  const firstSeq = run.nextSeq - events.length;
  return channelTriggers(plan).flatMap((trigger) => {
    const firings = events.flatMap((event, index) =>
      fires(trigger, event) ? [firingOf(trigger, event, run.facts.runId, firstSeq + index)] : [],
    );
    return trigger.debounceMs > 0 ? firings.slice(-1) : firings;
  });
}

function fires({ channel, onlyFrom }: ChannelTrigger, { type, payload, sealed }: RunEvent): boolean {
  if (type !== 'channel.written' || payload.channel !== channel || sealed?.fromTrigger) return false;
  const isForeign = payload.sourceRunId !== undefined || payload.sourceEngineId !== undefined;
  return onlyFrom === 'any' || isForeign === (onlyFrom === 'child');
}

function firingOf(trigger: ChannelTrigger, event: RunEvent, runId: string, seq: number): TriggerFiring {
  const { channel, triggerId } = trigger;
  const id = eventId(runId, seq);
  return {
    trigger,
    eventId: id,
    dueAt: event.at + trigger.debounceMs,
    ...inheritedTrust(event),
    data: {
      type: 'channel-write',
      triggerId,
      channel,
      runId,
      eventId: id,
      value: event.payload.value ?? null,
    },
  };
}
