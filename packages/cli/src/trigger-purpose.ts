/** What triggers start, and what they listen to, in words. */
import type { TriggerPurpose } from '@gantry/protocol';
import { printable } from './style.ts';

/** A group of its own is named after the trigger. */
export const groupOf = ({ consumerGroup }: TriggerPurpose, subscriptionId: string): string | undefined =>
  consumerGroup === subscriptionId ? undefined : consumerGroup;

/** @example 'Starts ship with each message of orders, in group workers.' */
export function purposeText(purpose: TriggerPurpose, subscriptionId: string): string {
  const { workflowId, topic } = purpose;
  const group = groupOf(purpose, subscriptionId);
  const what = topic === undefined ? 'event' : `message of ${topic}`;
  return `${printable(`Starts ${workflowId} with each ${what}${group === undefined ? '' : `, in group ${group}`}.`)}\n`;
}
