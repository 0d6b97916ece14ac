/** Schedules and triggers that start no runs. */
import type { Client } from '@gantry/client';
import type { DeadLetter, Schedule } from '@gantry/protocol';
import { type Finding, fail, ok, warn } from './finding.ts';

const PAGE = 200;

/** A line for each schedule whose latest tick started no run. */
export async function scheduleFindings({ schedules }: Pick<Client, 'schedules'>): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let before: string | undefined; ; ) {
    const page = await schedules.list({ limit: PAGE, ...(before !== undefined && { before }) });
    findings.push(...page.schedules.flatMap(problemOf));
    if (page.nextBefore === undefined) return findings;
    before = page.nextBefore;
  }
}

function problemOf({ scheduleId, workflowId, status, lastError }: Schedule): Finding[] {
  if (lastError === undefined || status === 'paused') return [];
  const { failures, message } = lastError;
  const ticks = failures === 1 ? 'the last tick' : `the last ${failures} ticks`;
  const next = `Correct the workflow or the inputs of the schedule, then: gantry dead-letters retry dl_${scheduleId}`;
  return [fail('schedule', `${scheduleId} of ${workflowId}: ${ticks} started no run. ${message}`, next)];
}

/** What there is to say about one schedule or trigger; undefined if there is none with this id. */
export async function starterFinding(client: Client, id: string): Promise<Finding | undefined> {
  const schedule = await client.schedules.get(id).catch(() => undefined);
  if (!schedule) return (await triggerFindings(client)).find(({ detail }) => detail.startsWith(`${id} `));
  const { workflowId, status, lastFire } = schedule;
  const last = lastFire ? `the last tick started ${lastFire.runId}` : 'it has started no run yet';
  return problemOf(schedule)[0] ?? ok('schedule', `${id} of ${workflowId} is ${status}: ${last}`);
}

/** A line for each trigger that stopped, or with more than one event that started no run. */
export async function triggerFindings(client: Pick<Client, 'triggers' | 'deadLetters'>): Promise<Finding[]> {
  const triggers = await client.triggers.describe();
  const { deadLetters } = await client.deadLetters.list({ limit: PAGE });
  return triggers.flatMap(({ subscriptionId, workflowId, state, problem }) => {
    const about = `${subscriptionId} of ${workflowId}`;
    const resume = `Correct the cause (gantry dead-letters), then: gantry triggers resume ${subscriptionId}`;
    if (state === 'failed') return [fail('trigger', `${about} stopped: its events started no runs`, resume)];
    if (problem !== undefined) return [fail('trigger', `${about} starts no runs. ${problem}`, resume)];
    const letters = deadLetters.filter((letter) => isOf(letter, subscriptionId));
    const [latest] = letters;
    if (!latest || letters.length < 2) return [];
    const detail = `${about}: ${letters.length} events started no run (${latest.reason})`;
    return [warn('trigger', detail, 'Read them with: gantry dead-letters')];
  });
}

const isOf = (letter: DeadLetter, subscriptionId: string): boolean =>
  letter.type === 'delivery' && letter.subscriptionId === subscriptionId;
