/** Limits for input of pack code. The protocol's advertisement has no members for them. */
import { invalid, type Json } from '@gantry/protocol';
import type { ConsumerGroup, QueueDraft } from '../../ports/queue.ts';
import { deadLetterTopicOf, isDeadLetterTopic } from './dead-letter.ts';

const TOPIC_BYTES_MAX = 200;
/** So that the dead letters of every topic can be read. */
const DEAD_LETTER_TOPIC_BYTES_MAX = Buffer.byteLength(deadLetterTopicOf('x'.repeat(TOPIC_BYTES_MAX)));
const GROUP_BYTES_MAX = 100;
const PARTS = {
  payload: { has: 'The payload has', bytesMax: 262_144, next: 'Put it into blob storage, and send its key.' },
  headers: { has: 'The headers have', bytesMax: 16_384, next: 'Put large values into the payload.' },
} as const;
const HEADERS_MAX = 64;

export function checkDraft({ topic, payload, headers }: QueueDraft): void {
  checkGroup({ topic, group: '' });
  refuseOver('payload', payload);
  refuseOver('headers', headers);
  if (Object.keys(headers).length > HEADERS_MAX)
    throw invalid(`A message has at most ${HEADERS_MAX} headers.`);
}

/** Throws `validation_error`. */
export function checkGroup(consumers: ConsumerGroup): void {
  const found = problemOf(consumers);
  if (found) throw invalid(`The ${found.field} ${found.problem}. Choose another name.`, { ...found });
}

/** Why a topic and group are not valid; null if they are. */
export function groupProblem(consumers: ConsumerGroup): string | null {
  const found = problemOf(consumers);
  return found && `${found.field} ${found.problem}`;
}

interface Problem {
  readonly field: string;
  readonly problem: string;
}

function problemOf({ topic, group }: ConsumerGroup): Problem | null {
  const topicBytesMax = isDeadLetterTopic(topic) ? DEAD_LETTER_TOPIC_BYTES_MAX : TOPIC_BYTES_MAX;
  return nameProblem('topic', topic, topicBytesMax) ?? nameProblem('consumerGroup', group, GROUP_BYTES_MAX);
}

function nameProblem(field: string, name: string, bytesMax: number): Problem | null {
  const bytes = Buffer.byteLength(name);
  if (bytes > bytesMax) return { field, problem: `has ${bytes} bytes, and may have ${bytesMax}` };
  return isPlainText(name) ? null : { field, problem: 'is not plain text: it has control characters' };
}

function refuseOver(field: keyof typeof PARTS, value: Json): void {
  const { has, bytesMax, next } = PARTS[field];
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= bytesMax) return;
  throw invalid(`${has} ${bytes} bytes, and may have ${bytesMax}. ${next}`, { field, bytesMax });
}

/**
 * Plain text has no control characters: they have a meaning in headers, and double in length in tokens.
 * Threads load this file.
 */
const CONTROL = /\p{Cc}/u;

export const isPlainText = (text: string): boolean => text.isWellFormed() && !CONTROL.test(text);
