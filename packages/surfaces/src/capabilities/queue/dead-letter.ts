/** Dead letters are messages of a topic of their own. Threads load this file. */
import { hash } from 'node:crypto';
import type { Json } from '@gantry/protocol';

const SUFFIX = '.dlq';

export const DELIVERY_LIMIT_REASON = 'delivery_limit_exceeded';

export const isDeadLetterTopic = (topic: string): boolean => topic.endsWith(SUFFIX);

export const deadLetterTopicOf = (topic: string): string => `${topic}${SUFFIX}`;

export interface DeadLetterFacts {
  readonly topic: string;
  readonly group: string;
  readonly messageId: string;
  readonly payload: Json;
  readonly deliveryCount: number;
  readonly reason: string;
}

/** The message as it was, and why it is here. */
export const deadLetterPayload = ({ payload, reason, group, ...facts }: DeadLetterFacts): Json => ({
  original: payload,
  deadLetterReason: reason,
  topic: facts.topic,
  consumerGroup: group,
  messageId: facts.messageId,
  deliveryCount: facts.deliveryCount,
});

/** Groups fail apart, so that one message can be dead for several of them. By digest: a group's name may be long. */
export const deadLetterId = (messageId: string, group: string): string =>
  group === '' ? `dead.${messageId}` : `dead.${messageId}.${hash('sha256', group, 'base64url')}`;

export const ALREADY_DEAD =
  'The message is a dead letter already. Acknowledge it, or publish its `original` to another topic.';
