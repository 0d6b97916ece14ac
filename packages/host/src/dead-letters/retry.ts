/** Another try for what is dead: a run is forked before the node that failed, an event is delivered again. */
import { type DeadLetter, type DeadLetterRetry, fromStored, OpenwopError } from '@gantry/protocol';
import type { LossReason, RunKey, Store, Write } from '@gantry/store';
import { createForks, type PrepareFork } from '../runtime/fork.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Delivery, deliveryEntryKey, deliveryWrite, toDelivery } from '../triggers/delivery.ts';
import { readSubscription } from '../triggers/subscription.ts';

const PAGE = 500;

export interface RetryOptions {
  readonly store: Pick<Store, 'commit' | 'entries' | 'runs'>;
  readonly runtime: () => Pick<Runtime, 'adopt' | 'read'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** A delivery is due at that time, on disk. */
  readonly noted: (dueAt: number) => void;
}

export interface Retry {
  readonly tenant: string;
  readonly letter: DeadLetter;
  readonly removal: Write;
  readonly record: (answer: DeadLetterRetry) => readonly Write[];
}

type Letter<T extends DeadLetter['type']> = Extract<DeadLetter, { type: T }>;

export function createRetry(options: RetryOptions): (retry: Retry) => Promise<DeadLetterRetry | 'duplicate'> {
  const { store, now, randomBytes } = options;
  const prepareFork = createForks({ runs: store.runs, now, randomBytes });
  return (retry) =>
    retry.letter.type === 'run'
      ? forkRun(options, prepareFork, retry, retry.letter)
      : deliverAgain(options, retry, retry.letter);
}

async function forkRun(
  { store, runtime }: RetryOptions,
  prepareFork: PrepareFork,
  { tenant, removal, record }: Retry,
  { runId: sourceRunId, nodeId }: Letter<'run'>,
): Promise<DeadLetterRetry | 'duplicate'> {
  const key = { tenant, runId: sourceRunId };
  const source = await runtime().read(key);
  const fromSeq = source ? await lastEntryOf(store.runs, key, nodeId) : null;
  if (!source || fromSeq === null)
    throw new OpenwopError('not_found', { message: 'The run is no longer kept.' });
  const prepared = await prepareFork(source, { mode: 'branch', fromSeq, changes: {} });
  const answer = { type: 'run', runId: prepared.run.facts.runId, sourceRunId } as const;
  const recorded = record(answer);
  const result = await runtime().adopt(prepared, { writes: () => [removal, ...recorded] });
  if (result.kind === 'created') return answer;
  return lost(recorded.length > 0 ? 'exists' : 'stale');
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
  { tenant, removal, record }: Retry,
  letter: Letter<'delivery'>,
): Promise<DeadLetterRetry | 'duplicate'> {
  const { store, now, noted } = options;
  const delivery = await revived(options, tenant, letter);
  const dueAt = now();
  const answer = { type: 'delivery', deliveryId: letter.deliveryId } as const;
  const write = deliveryWrite({ ...delivery, dueAt, attempts: 0 }, 0);
  const [result] = await store.commit([[removal, write, ...record(answer)]]);
  if (!result?.won) return lost(result?.reason);
  noted(dueAt);
  return answer;
}

function lost(reason: LossReason | undefined): 'duplicate' {
  if (reason === 'exists') return 'duplicate';
  throw new OpenwopError('conflict', { message: 'Someone else has seen to it just now.' });
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
