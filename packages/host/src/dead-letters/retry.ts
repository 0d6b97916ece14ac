/** Another try for what is dead: a run is forked before the node that failed, an event is delivered again. */
import { type DeadLetter, type DeadLetterRetry, fromStored, OpenwopError } from '@gantry/protocol';
import type { Caller, Changes } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import { createForks, type PrepareFork } from '../runtime/fork.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Delivery, deliveryEntryKey, deliveryWrite, toDelivery } from '../triggers/delivery.ts';
import { readSubscription } from '../triggers/subscription.ts';
import { deadLetterKey, deadLetters, toDeadLetter } from './dead-letter.ts';

const PAGE = 500;

export interface RetryOptions {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly changes: Pick<Changes, 'run'>;
  readonly runtime: () => Pick<Runtime, 'prepare' | 'read'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** A delivery is due at that time, on disk. */
  readonly noted: (dueAt: number) => void;
}

type Letter<T extends DeadLetter['type']> = Extract<DeadLetter, { type: T }>;

export function createRetry(options: RetryOptions): (caller: Caller, id: string) => Promise<DeadLetterRetry> {
  const { store, now, randomBytes } = options;
  const prepareFork = createForks({ runs: store.runs, now, randomBytes });
  return async (caller, id) => {
    const entry = await store.entries.get(deadLetterKey(caller.tenant, id));
    if (!entry) return refuse(options, caller, 'There is no such dead letter, or someone has seen to it.');
    const letter = toDeadLetter(entry);
    return letter.type === 'run'
      ? forkRun(options, prepareFork, caller, letter)
      : deliverAgain(options, caller, letter);
  };
}

/** A request that was answered before gets that answer, though its letter is gone. */
const refuse = ({ changes }: RetryOptions, caller: Caller, message: string): Promise<DeadLetterRetry> =>
  changes.run(caller, async () => {
    throw new OpenwopError('not_found', { message });
  });

async function forkRun(
  options: RetryOptions,
  prepareFork: PrepareFork,
  caller: Caller,
  { deadLetterId, runId: sourceRunId, nodeId }: Letter<'run'>,
): Promise<DeadLetterRetry> {
  const { store, runtime, changes } = options;
  const key = { tenant: caller.tenant, runId: sourceRunId };
  const source = await runtime().read(key);
  const fromSeq = source ? await lastEntryOf(store.runs, key, nodeId) : null;
  if (!source || fromSeq === null) return refuse(options, caller, 'The run is no longer kept.');
  const prepared = await prepareFork(source, { mode: 'branch', fromSeq, changes: {} });
  const fork = await runtime().prepare(prepared);
  return changes.run<DeadLetterRetry>(caller, async (change) => {
    change.delete(await change.get(deadLetters, deadLetterId));
    change.start(fork);
    return { type: 'run', runId: fork.runId, sourceRunId };
  });
}

/** Where the node's latest visit began, before the first of its attempts. */
async function lastEntryOf(
  runs: Store['runs'],
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
  options: RetryOptions,
  caller: Caller,
  letter: Letter<'delivery'>,
): Promise<DeadLetterRetry> {
  const answer = await options.changes.run<DeadLetterRetry>(caller, async (change) => {
    change.delete(await change.get(deadLetters, letter.deadLetterId));
    const delivery = await revived(options, caller.tenant, letter);
    change.add(deliveryWrite({ ...delivery, dueAt: change.now, attempts: 0 }, 0));
    return { type: 'delivery', deliveryId: letter.deliveryId };
  });
  options.noted(options.now());
  return answer;
}

async function revived(
  { store: { entries } }: RetryOptions,
  tenant: string,
  { deliveryId, subscriptionId }: Letter<'delivery'>,
): Promise<Delivery> {
  if (subscriptionId === undefined)
    throw new OpenwopError('conflict', {
      message: 'What a channel write fired is not kept; write it again.',
    });
  const kept = await entries.get(deliveryEntryKey(tenant, deliveryId));
  const delivery = kept && toDelivery(kept);
  const event = delivery?.state.status === 'dead-lettered' ? delivery.state.event : undefined;
  if (!delivery || !event) throw new OpenwopError('not_found', { message: 'The event is no longer kept.' });
  const state = (await readSubscription(entries, delivery))?.state ?? 'removed';
  if (state === 'active') return { ...delivery, state: { status: 'pending', event } };
  throw new OpenwopError('conflict', {
    message: `Its subscription is ${state}. Resume it first, or start a run by hand.`,
    details: { state },
  });
}
