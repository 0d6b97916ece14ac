/** The output of `gantry triggers show`. Pure. */
import type { TriggerDeliveryPage } from '@gantry/client';
import type { TriggerDelivery, TriggerPurpose, TriggerSubscription } from '@gantry/protocol';
import { ago, type Listing, listingText } from './output.ts';
import { printable } from './style.ts';

/** The number of latest deliveries that are requested, to count those without a run. */
export const LOOKED_AT = 200;
const SHOWN = 5;

type Page = TriggerDeliveryPage;

export const DELIVERIES: Pick<Listing<TriggerDelivery>, 'columns' | 'none'> = {
  columns: {
    DELIVERY: 'deliveryId',
    STATE: 'state',
    TRIES: 'attempts',
    RECEIVED: ({ receivedAt }, now) => ago(receivedAt, now),
    VERIFIED: ({ verified }) => (verified ? 'yes' : 'no'),
    RUN: 'runId',
    REASON: 'reason',
  },
  none: 'No deliveries yet.',
};

export function triggerView(subscription: TriggerSubscription, page: Page, now: number): string {
  const { subscriptionId, source, state } = subscription;
  const lines = [
    `${subscriptionId} ${source} ${state}${sinceText(page, now)}`,
    ...(page.problem === undefined ? [] : [`Problem: ${printable(page.problem)}`]),
    ...nextStep(subscription),
    ...countLines(page),
  ];
  const isMore = page.deliveries.length > SHOWN || page.nextCursor !== undefined;
  const more = isMore ? `gantry triggers deliveries ${subscriptionId}` : undefined;
  const latest = listingText({ items: page.deliveries.slice(0, SHOWN), ...DELIVERIES, more }, now);
  return `${lines.join('\n')}\n${latest}`;
}

function sinceText({ stateChanges: [last] }: Page, now: number): string {
  if (!last) return '';
  const reason = last.reason === undefined ? '' : ` (${last.reason})`;
  return `, since ${ago(last.at, now)}${reason}`;
}

function nextStep({ subscriptionId, state }: TriggerSubscription): string[] {
  switch (state) {
    case 'active':
      return [];
    case 'paused':
    case 'failed':
      return [`Accept events again: gantry triggers resume ${subscriptionId}`];
    case 'dead-lettered':
      return [`Its workflow was deleted. Remove the trigger: gantry triggers rm ${subscriptionId}`];
  }
}

/** Messages still in their topic are not counted. */
function countLines({ deliveries, nextCursor }: Page): string[] {
  const count = (state: TriggerDelivery['state']): number =>
    deliveries.filter((each) => each.state === state).length;
  const among = nextCursor === undefined ? '' : ` of the latest ${deliveries.length}`;
  const waiting = count('pending');
  const dead = count('dead-lettered');
  return [
    ...(waiting > 0 ? [`Waiting for a run: ${waiting}${among}`] : []),
    ...(dead > 0 ? [`Failed to start a run: ${dead}${among}. To retry: gantry dead-letters`] : []),
  ];
}

/** Undefined for the default group, which is named after the trigger. */
export const groupOf = (
  { consumerGroup }: Pick<TriggerPurpose, 'consumerGroup'>,
  subscriptionId: string,
): string | undefined => (consumerGroup === subscriptionId ? undefined : consumerGroup);

/** @example 'Starts ship with each message of orders, in group workers.' */
export function purposeText(purpose: TriggerPurpose, subscriptionId: string): string {
  const { workflowId, topic, ingestUrl } = purpose;
  const group = groupOf(purpose, subscriptionId);
  const what = topic === undefined ? 'event' : `message of ${topic}`;
  const where = ingestUrl === undefined ? '' : `Send events to ${printable(ingestUrl)}\n`;
  return `${printable(`Starts ${workflowId} with each ${what}${group === undefined ? '' : `, in group ${group}`}.`)}\n${where}`;
}
