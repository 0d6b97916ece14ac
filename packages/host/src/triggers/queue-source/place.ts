/** Which topic a subscription listens to, and as whom. Pure. */
import type { QueuePlace } from '@gantry/surfaces';
import type { QueueSubscription } from '../subscription.ts';

/** With the ending of dead letters, which may be listened to. */
const TOPIC_BYTES_MAX = 204;
const GROUP_BYTES_MAX = 100;

/** A group of its own gets every message of the topic; those who name the same group share them. */
export const placeOf = ({ topic, consumerGroup, subscriptionId }: QueueSubscription): QueuePlace => ({
  topic,
  group: consumerGroup ?? subscriptionId,
});

/** Why no queue can have such a place; null when it can. */
export const placeProblem = (topic: string, consumerGroup = ''): string | null =>
  nameProblem('topic', topic, TOPIC_BYTES_MAX) ??
  nameProblem('consumerGroup', consumerGroup, GROUP_BYTES_MAX);

function nameProblem(field: string, name: string, bytesMax: number): string | null {
  if (Buffer.byteLength(name) > bytesMax) return `${field} has more than ${bytesMax} bytes`;
  return name.isWellFormed() && !name.includes('\0') ? null : `${field} is not plain text`;
}
