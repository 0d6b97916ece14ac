/** Dead letters are messages of a separate topic. Threads load this file. */
import { hash } from 'node:crypto';
import type { MessageRow, MessageTexts, NewDeadLetter } from './queue-store.ts';

const SUFFIX = '.dlq';

export const DELIVERY_LIMIT_REASON = 'delivery_limit_exceeded';

export const isDeadLetterTopic = (topic: string): boolean => topic.endsWith(SUFFIX);

export const deadLetterTopicOf = (topic: string): string => `${topic}${SUFFIX}`;

/** The original message, with the reason. */
export const deadLetterOf = (
  { topic, group, deliveryCount, reason }: Omit<NewDeadLetter, 'seq'>,
  { message_id: messageId, payload, headers }: Omit<MessageRow, 'seq'>,
): MessageTexts & { readonly messageId: string } => ({
  topic: deadLetterTopicOf(topic),
  messageId: deadLetterId(messageId, group),
  payload: JSON.stringify({
    original: JSON.parse(payload),
    deadLetterReason: reason,
    topic,
    consumerGroup: group,
    messageId,
    deliveryCount,
  }),
  headers,
});

/** Groups fail separately, so a message can be a dead letter of several groups. Hashed: a group name may be long. */
const deadLetterId = (messageId: string, group: string): string =>
  group === '' ? `dead.${messageId}` : `dead.${messageId}.${hash('sha256', group, 'base64url')}`;
