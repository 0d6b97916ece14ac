/** Which topic a subscription listens to, and as whom. Pure. */
import { type QueuePlace, queuePlaceProblem } from '@gantry/surfaces';
import type { QueueSubscription } from '../subscription.ts';

/** A group of its own gets every message of the topic; those who name the same group share them. */
export const placeOf = ({ topic, consumerGroup, subscriptionId }: QueueSubscription): QueuePlace => ({
  topic,
  group: consumerGroup ?? subscriptionId,
});

/** Why no queue can have such a place; null when it can. */
export const placeProblem = (topic: string, consumerGroup = ''): string | null =>
  queuePlaceProblem({ topic, group: consumerGroup });
