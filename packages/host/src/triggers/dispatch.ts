/**
 * Starts the run of a delivery that is due.
 *
 * I1  The run and the end of its delivery are one commit: a delivery starts one run, however often and by however many
 *     processes it is tried.
 * I2  A host at its capacity tries again by the subscription's policy; an event that can never start a run is not tried
 *     again.
 */

import { OpenwopError } from '@gantry/protocol';
import type { Caller, Change } from '@gantry/resources';
import { systemCaller } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import { deadLetters, type Retention } from '../dead-letters/dead-letter.ts';
import type { Parts } from '../parts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Admitting, admit } from '../workflows/admission.ts';
import type { Delivery, DeliveryRecord, PendingState } from './delivery.ts';
import { mapInputs } from './input-mapping.ts';
import { failureOf } from './retry.ts';
import {
  ended,
  exhausted,
  readTrigger,
  recovered,
  runOwner,
  type Transition,
  type Trigger,
  triggers,
} from './trigger.ts';

/**
 * How often deliveries are looked at while their subscription is paused, or may not start its workflow. When it is
 * resumed they are due at once.
 */
const PAUSE_MS = 3_600_000;

export interface DispatchOptions extends Retention, Pick<Parts, 'changes' | 'now'> {
  readonly store: { readonly entries: Pick<EntryReads, 'get'> };
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Admitting;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** A delivery to be worked on, and how its next state is stored: false when another process was first. */
export interface Work {
  readonly tenant: string;
  readonly id: string;
  readonly record: DeliveryRecord;
  readonly keep: (change: Change, next: DeliveryRecord) => Promise<boolean>;
}

interface Pending extends Work {
  readonly state: PendingState;
}

/** The actor of what triggers change by themselves. */
export const TRIGGERS = 'triggers';

export const triggerCaller = (tenant: string): Caller => systemCaller(TRIGGERS, { tenant });

export const stored = (delivery: Delivery): Work => ({
  ...delivery,
  keep: (change, next) => change.settle(delivery, next),
});

export async function dispatch(options: DispatchOptions, work: Work): Promise<void> {
  const { tenant, record } = work;
  if (record.state.status !== 'pending') return;
  const pending = { ...work, state: record.state };
  const trigger = await readTrigger(options.store.entries, tenant, record.subscriptionId);
  switch (trigger?.record.state) {
    case 'active':
      return attempt(options, trigger, {
        ...pending,
        record: { ...record, attempts: record.attempts + 1 },
      });
    case 'paused':
      return postpone(options, pending, { dueAt: options.now() + PAUSE_MS });
    case 'failed':
      return giveUp(options, pending, trigger, 'retry-exhausted');
    case 'dead-lettered':
    case undefined:
      return giveUp(options, pending, trigger, 'source-removed');
  }
}

async function attempt(options: DispatchOptions, trigger: Trigger, pending: Pending): Promise<void> {
  try {
    await start(options, trigger, pending);
  } catch (error) {
    // Not the event is wrong but who registered the workflow: it waits for a correction
    if (error instanceof OpenwopError && error.code === 'forbidden') {
      const held = { lastReason: error.code, dueAt: options.now() + PAUSE_MS };
      return postpone(
        options,
        { ...pending, record: { ...pending.record, attempts: pending.record.attempts - 1 } },
        held,
      );
    }
    const failure = failureOf(error, trigger.record.retryPolicy, pending.record.attempts, options.random());
    if (failure.kind === 'again')
      return postpone(options, pending, {
        lastReason: failure.code,
        dueAt: options.now() + failure.delayMs,
      });
    // A workflow that is gone ends the subscription; an event that does not fit ends alone
    if (failure.reason === 'not_found') return giveUp(options, pending, trigger, 'source-removed', ended);
    return giveUp(options, pending, trigger, failure.reason, failure.isExhausted ? exhausted : undefined);
  }
}

/** I1. */
async function start(options: DispatchOptions, trigger: Trigger, pending: Pending): Promise<void> {
  const { runtime, workflows, now } = options;
  const { state } = pending;
  const { workflowId, inputMapping, origin } = trigger.record;
  const run = await admit(workflows, runOwner(trigger, origin), {
    workflowId,
    inputs: mapInputs(inputMapping, state.event),
  });
  const { subscriptionId, dedupKey, attempts: attempt } = pending.record;
  await runtime.create(
    {
      ...run,
      delivery: { subscriptionId, dedupKey, attempt },
      triggerData: state.event,
      contentTrust: 'untrusted',
    },
    {
      commit: (writes, { facts: { runId } }) => {
        const delivered = { ...pending.record, state: { status: 'delivered', runId, at: now() } } as const;
        return commit(options, pending, delivered, async (change) => {
          if (trigger.record.exhaustedInARow > 0) await move(change, subscriptionId, recovered);
          change.add(...writes);
        });
      },
    },
  );
}

async function postpone(
  options: DispatchOptions,
  pending: Pending,
  change: Pick<PendingState, 'dueAt' | 'lastReason'>,
): Promise<void> {
  await commit(options, pending, { ...pending.record, state: { ...pending.state, ...change } });
}

/** The end of a delivery without a run. */
async function giveUp(
  options: DispatchOptions,
  pending: Pending,
  trigger: Trigger | null,
  reason: string,
  transition?: Transition,
): Promise<void> {
  const { id, record, state } = pending;
  const at = options.now();
  const until = at + options.retentionMs;
  const next: DeliveryRecord = {
    ...record,
    state: { status: 'dead-lettered', reason, at, until, event: state.event },
  };
  const { subscriptionId, attempts } = record;
  const { workflowId = '' } = trigger?.record ?? {};
  const letter = { type: 'delivery', workflowId, deliveryId: id, subscriptionId, reason, attempts } as const;
  await commit(options, pending, next, async (change) => {
    if (transition) await move(change, subscriptionId, transition);
    change.create(deadLetters, { ...letter, until });
  });
}

async function move(change: Change, subscriptionId: string, transition: Transition): Promise<void> {
  const trigger = await change.find(triggers, subscriptionId);
  const after = trigger && transition(trigger.record, change.now);
  if (trigger && after && after !== trigger.record) change.replace(trigger, after);
}

/** False when another process was first. */
const commit = (
  { changes }: DispatchOptions,
  { tenant, keep }: Work,
  next: DeliveryRecord,
  also?: (change: Change) => Promise<void>,
): Promise<boolean> =>
  changes.run(triggerCaller(tenant), async (change) => {
    if (!(await keep(change, next))) return false;
    await also?.(change);
    return true;
  });
