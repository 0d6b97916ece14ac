/**
 * Starts the run of a delivery that is due.
 *
 * I1  The run and the end of its delivery are one commit: however often and by however many processes it is
 *     tried, one run comes of it.
 * I2  A host without room tries again by the subscription's policy; what can never become a run is not tried again.
 */
import { OpenwopError, type TriggerEvent, type TriggerReason, type TriggerState } from '@gantry/protocol';
import type { Entry, Store, Write } from '@gantry/store';
import { type DeadLetterOffice, deadLetterWrite } from '../dead-letters/dead-letter.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import { admit, isFinal } from '../workflows/admission.ts';
import { type Delivery, deliveryWrite, toDelivery } from './delivery.ts';
import { mapInputs } from './input-mapping.ts';
import { retryDelayMs } from './retry.ts';
import { inState, readSubscription, type Subscription, subscriptionWrite } from './subscription.ts';

/** So many deliveries in a row that used up their attempts switch a subscription off. */
const EXHAUSTED_MAX = 5;
/** What was taken before a pause is looked at so often, and at once when the pause ends. */
const PAUSE_MS = 3_600_000;

export interface DispatchOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
  readonly office: DeadLetterOffice;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

type Pending = Delivery & { readonly state: { readonly status: 'pending'; readonly event: TriggerEvent } };

const isPending = (delivery: Delivery): delivery is Pending => delivery.state.status === 'pending';

export async function dispatch(options: DispatchOptions, entry: Entry): Promise<void> {
  const delivery = toDelivery(entry);
  if (!isPending(delivery)) return;
  const subscription = await readSubscription(options.store.entries, delivery);
  if (!subscription) return bury(options, delivery, { reason: 'source-removed', workflowId: '' });
  const { workflowId } = subscription;
  switch (subscription.state) {
    case 'active':
      return attempt(options, subscription, delivery);
    case 'paused':
      return postpone(options, delivery, options.now() + PAUSE_MS);
    case 'failed':
      return bury(options, delivery, { reason: 'retry-exhausted', workflowId });
    case 'dead-lettered':
      return bury(options, delivery, { reason: 'source-removed', workflowId });
  }
}

async function attempt(
  options: DispatchOptions,
  subscription: Subscription,
  delivery: Pending,
): Promise<void> {
  const attempted = { ...delivery, attempts: delivery.attempts + 1 };
  try {
    await start(options, subscription, attempted);
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    if (isFinal(error)) await giveUp(options, subscription, attempted, error);
    else await tryAgain(options, subscription, attempted, error);
  }
}

/** I1. */
async function start(options: DispatchOptions, subscription: Subscription, delivery: Pending): Promise<void> {
  const { runtime, workflows, office, now } = options;
  const { tenant, workflowId, inputMapping, origin } = subscription;
  const { event } = delivery.state;
  const owner = origin.kind === 'api' ? { tenant, principal: origin.keyId } : { tenant };
  const request = {
    workflowId,
    inputs: mapInputs(inputMapping, event),
    configurable: {},
    tags: [],
    metadata: {},
  };
  const run = await admit(workflows, owner, request);
  const recovered = { ...subscription, exhaustedInARow: 0 };
  await runtime.create(
    { ...run, causationId: delivery.deliveryId, triggerData: event },
    {
      writes: ({ facts: { runId } }) => {
        const state = { status: 'delivered', runId, at: now() } as const;
        return [
          deliveryWrite({ ...delivery, dueAt: null, state }, now() + office.retentionMs),
          ...(subscription.exhaustedInARow > 0 ? [subscriptionWrite(recovered)] : []),
        ];
      },
    },
  );
}

/** I2. A workflow that is gone ends the subscription; an event that does not fit ends alone. */
function giveUp(
  options: DispatchOptions,
  subscription: Subscription,
  delivery: Pending,
  { code }: OpenwopError,
): Promise<void> {
  const { workflowId } = subscription;
  if (code !== 'not_found') return bury(options, delivery, { reason: code, workflowId });
  const changed = moved(options, subscription, 'dead-lettered', 'source-removed');
  return bury(options, delivery, { reason: 'source-removed', workflowId, changed });
}

async function tryAgain(
  options: DispatchOptions,
  subscription: Subscription,
  delivery: Pending,
  { code }: OpenwopError,
): Promise<void> {
  const delayMs = retryDelayMs(subscription.retryPolicy, delivery.attempts, options.random());
  if (delayMs !== null) {
    const state = { ...delivery.state, lastReason: code };
    return postpone(options, { ...delivery, state }, options.now() + delayMs);
  }
  const counted = { ...subscription, exhaustedInARow: subscription.exhaustedInARow + 1 };
  const changed =
    counted.exhaustedInARow < EXHAUSTED_MAX ? counted : moved(options, counted, 'failed', 'retry-exhausted');
  return bury(options, delivery, { reason: 'retry-exhausted', workflowId: subscription.workflowId, changed });
}

const moved = (
  { now }: DispatchOptions,
  subscription: Subscription,
  toState: TriggerState,
  reason: TriggerReason,
): Subscription => inState(subscription, toState, now(), reason);

async function postpone({ store }: DispatchOptions, delivery: Pending, dueAt: number): Promise<void> {
  await store.commit([[deliveryWrite({ ...delivery, dueAt }, 0)]]);
}

/** The end of a delivery without a run. Who loses this commit looks at it again. */
async function bury(
  { store, office, now }: DispatchOptions,
  delivery: Pending,
  end: { readonly reason: string; readonly workflowId: string; readonly changed?: Subscription },
): Promise<void> {
  const { tenant, deliveryId, subscriptionId, attempts } = delivery;
  const { reason, workflowId, changed } = end;
  const state = { status: 'dead-lettered', reason, at: now(), event: delivery.state.event } as const;
  const letter = { type: 'delivery', workflowId, deliveryId, subscriptionId, reason, attempts } as const;
  const group: Write[] = [
    deliveryWrite({ ...delivery, dueAt: null, state }, now() + office.retentionMs),
    deadLetterWrite(office, tenant, letter),
    ...(changed ? [subscriptionWrite(changed)] : []),
  ];
  await store.commit([group]);
}
