/** What callers may do with dead letters. A retry forks a run before the node that failed, or delivers an event again. */
import {
  type DeadLetter,
  type DeadLetterRetry,
  type deadLettersWire,
  fromStored,
  OpenwopError,
} from '@gantry/protocol';
import { type Caller, type Change, ResourceService } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { createForks, type PrepareFork } from '../runtime/fork.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { deliveries } from '../triggers/delivery.ts';
import { triggers } from '../triggers/trigger.ts';
import { type DeadLetterRecord, deadLetters } from './dead-letter.ts';

const PAGE = 500;

export interface DeadLetterOptions extends Pick<Parts, 'changes' | 'redactions' | 'now' | 'randomBytes'> {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly runtime: () => Pick<Runtime, 'prepare' | 'read'>;
}

type Letter<T extends DeadLetter['type']> = Extract<DeadLetter, { type: T }>;

export class DeadLetterService extends ResourceService<
  typeof deadLettersWire,
  DeadLetterRecord,
  DeadLetterRecord
> {
  readonly #options: DeadLetterOptions;
  readonly #prepareFork: PrepareFork;

  constructor(options: DeadLetterOptions) {
    const { changes, store, now, randomBytes, redactions } = options;
    super(deadLetters, { changes, entries: store.entries, now, services: undefined });
    this.#options = options;
    this.#prepareFork = createForks({ runs: store.runs, now, randomBytes, redactions }).prepare;
  }

  /** The letter goes in the commit of what is made of it: of two retries one wins. */
  async retry(caller: Caller, id: string): Promise<DeadLetterRetry> {
    const letter = await this.get(caller, id).catch(ifMissing);
    if (!letter) return this.#refuse(caller, 'The dead letter does not exist or was already handled.');
    return letter.view.type === 'run'
      ? this.#forkRun(caller, letter.view)
      : this.#deliverAgain(caller, letter.view);
  }

  /** Of a run that a person deletes. */
  async forgetRun(tenant: string, runId: string): Promise<void> {
    const { store, changes } = this.#options;
    const found = await store.entries.list(deadLetters.kind, tenant, { ref: runId, limit: PAGE });
    await changes.run({ kind: 'system', tenant, actor: 'deletion' }, async (change) => {
      for (const { id } of found) {
        const letter = await change.find(deadLetters, id);
        if (letter) change.delete(letter);
      }
    });
  }

  /** A request that was answered before gets that answer, though its letter is gone. */
  #refuse(caller: Caller, message: string): Promise<DeadLetterRetry> {
    return this.#options.changes.run(caller, async () => {
      throw new OpenwopError('not_found', { message });
    });
  }

  async #forkRun(
    caller: Caller,
    { deadLetterId, runId: sourceRunId, nodeId }: Letter<'run'>,
  ): Promise<DeadLetterRetry> {
    const { store, runtime, changes } = this.#options;
    const key = { tenant: caller.tenant, runId: sourceRunId };
    const source = await runtime().read(key);
    const fromSeq = source ? await lastEntryOf(store.runs, key, nodeId) : null;
    if (!source || fromSeq === null) return this.#refuse(caller, 'The run is no longer kept.');
    const prepared = await this.#prepareFork(source, { mode: 'branch', fromSeq, changes: {} });
    const fork = await runtime().prepare(prepared);
    return changes.run<DeadLetterRetry>(caller, async (change) => {
      change.delete(await change.get(deadLetters, deadLetterId));
      change.start(fork);
      return { type: 'run', runId: fork.runId, sourceRunId };
    });
  }

  #deliverAgain(caller: Caller, letter: Letter<'delivery'>): Promise<DeadLetterRetry> {
    const { deadLetterId, deliveryId } = letter;
    return this.#options.changes.run<DeadLetterRetry>(caller, async (change) => {
      change.delete(await change.get(deadLetters, deadLetterId));
      await revive(change, letter);
      return { type: 'delivery', deliveryId };
    });
  }
}

function ifMissing(error: unknown): null {
  if (error instanceof OpenwopError && error.code === 'not_found') return null;
  throw error;
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

async function revive(change: Change, { deliveryId, subscriptionId }: Letter<'delivery'>): Promise<void> {
  if (subscriptionId === undefined)
    throw new OpenwopError('conflict', {
      message: 'What a channel write fired is not kept; write it again.',
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
}
