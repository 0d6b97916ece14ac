/**
 * The retry of a dead letter: a fork of the run before the node that failed, another delivery of the event, or a tick
 * of the schedule now.
 */
import { type DeadLetterRetry, fromStored, OpenwopError, runOwnerOf } from '@gantry/protocol';
import type { Change, Stored } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import type { PrepareFork } from '../runtime/fork.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { schedules } from '../schedules/schedule.ts';
import { deliveries } from '../triggers/delivery.ts';
import { triggers } from '../triggers/trigger.ts';
import type { DeadLetterRecord } from './dead-letter.ts';

const PAGE = 500;

export interface RetryServices {
  readonly runs: Pick<Store['runs'], 'events'>;
  readonly runtime: Pick<Runtime, 'prepare' | 'read'>;
  readonly prepareFork: PrepareFork;
}

type Letter<T extends DeadLetterRecord['type']> = Extract<DeadLetterRecord, { type: T }>;

/** The letter is deleted in the commit of its fork or delivery, so only one of two retries succeeds. */
export async function retry(
  letter: Stored<DeadLetterRecord>,
  change: Change,
  services: RetryServices,
): Promise<DeadLetterRetry> {
  const { record } = letter;
  change.delete(letter);
  switch (record.type) {
    case 'run':
      return forkRun(change, record, services);
    case 'delivery':
      return deliverAgain(change, record);
    case 'schedule':
      return fireNow(change, record);
  }
}

/** Its next tick is now; the ticks after it are as they were. */
async function fireNow(change: Change, { scheduleId }: Letter<'schedule'>): Promise<DeadLetterRetry> {
  const schedule = await change.find(schedules, scheduleId);
  if (!schedule) throw new OpenwopError('not_found', { message: 'The schedule was deleted.' });
  if (schedule.record.state.status === 'paused')
    throw new OpenwopError('conflict', { message: 'The schedule is paused. Resume it first.' });
  const state = { status: 'active', nextAt: change.now, caughtUp: 0 } as const;
  change.update(schedule, { ...schedule.record, state });
  return { type: 'schedule', scheduleId };
}

async function forkRun(
  change: Change,
  { runId: sourceRunId, nodeId }: Letter<'run'>,
  { runs, runtime, prepareFork }: RetryServices,
): Promise<DeadLetterRetry> {
  const key = { tenant: change.caller.tenant, runId: sourceRunId };
  const source = await runtime.read(key);
  const fromSeq = await lastEntryOf(runs, key, nodeId);
  if (!source || fromSeq === null)
    throw new OpenwopError('not_found', { message: 'The run is no longer kept.' });
  const prepared = await prepareFork(source, {
    mode: 'branch',
    fromSeq,
    changes: { owner: runOwnerOf(change.caller) },
  });
  const fork = await runtime.prepare(prepared);
  change.start(fork);
  return { type: 'run', runId: fork.runId, sourceRunId };
}

/** The start of the node's latest visit, before the first of its attempts. */
async function lastEntryOf(
  runs: RetryServices['runs'],
  { tenant, runId }: RunKey,
  nodeId: string,
): Promise<number | null> {
  let last: number | null = null;
  for (let next = 0; ; ) {
    const page = await runs.events(tenant, runId, next, PAGE);
    for (const event of page) {
      if (event.type !== 'node.started' || event.nodeId !== nodeId) continue;
      if (fromStored(event).payload.attempt === 0) last = event.sequence;
    }
    next += page.length;
    if (page.length < PAGE) return last;
  }
}

async function deliverAgain(
  change: Change,
  { deliveryId, subscriptionId }: Letter<'delivery'>,
): Promise<DeadLetterRetry> {
  if (subscriptionId === undefined)
    throw new OpenwopError('conflict', {
      message: 'The event of a channel write is not kept. Write to the channel again.',
    });
  const delivery = await change.find(deliveries, deliveryId);
  const event = delivery?.record.state.status === 'dead-lettered' ? delivery.record.state.event : undefined;
  if (!delivery || !event) throw new OpenwopError('not_found', { message: 'The event is no longer kept.' });
  const state = (await change.find(triggers, subscriptionId))?.record.state ?? 'removed';
  if (state !== 'active')
    throw new OpenwopError('conflict', {
      message: `Its subscription is ${state}. Resume it first, or start a run by hand.`,
      details: { state },
    });
  change.update(delivery, { attempts: 0, state: { status: 'pending', event, dueAt: change.now } });
  return { type: 'delivery', deliveryId };
}
