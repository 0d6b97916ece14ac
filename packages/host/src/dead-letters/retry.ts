/** The retry of a dead letter: a fork of the run before the node that failed, or another delivery of the event. */
import { type DeadLetterRetry, fromStored, OpenwopError } from '@gantry/protocol';
import type { Change, Stored } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import type { PrepareFork } from '../runtime/fork.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { deliveries } from '../triggers/delivery.ts';
import { triggers } from '../triggers/trigger.ts';
import type { DeadLetterRecord } from './dead-letter.ts';

const PAGE = 500;

export interface RetryServices {
  readonly runs: Pick<Store['runs'], 'events'>;
  readonly runtime: () => Pick<Runtime, 'prepare' | 'read'>;
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
  return record.type === 'run' ? forkRun(change, record, services) : deliverAgain(change, record);
}

async function forkRun(
  change: Change,
  { runId: sourceRunId, nodeId }: Letter<'run'>,
  { runs, runtime, prepareFork }: RetryServices,
): Promise<DeadLetterRetry> {
  const key = { tenant: change.caller.tenant, runId: sourceRunId };
  const source = await runtime().read(key);
  const fromSeq = await lastEntryOf(runs, key, nodeId);
  if (!source || fromSeq === null)
    throw new OpenwopError('not_found', { message: 'The run is no longer kept.' });
  const prepared = await prepareFork(source, { mode: 'branch', fromSeq, changes: {} });
  const fork = await runtime().prepare(prepared);
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
