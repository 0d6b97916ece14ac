import type { DataObject } from '../../calls/data.ts';
import {
  also,
  fill,
  isList,
  member,
  rename,
  type Spelling,
  type Step,
  unused,
} from '../../calls/spelling.ts';

const firstMessage = (value: DataObject): DataObject | undefined =>
  isList(value.messages) ? (value.messages[0] as DataObject | undefined) : undefined;

const oneMessage: readonly Step[] = [
  member('found', 'whether there was one', (value) => firstMessage(value) !== undefined),
  ...['messageId', 'payload', 'headers', 'deliveryToken', 'deliveryCount'].map((name) =>
    member(name, 'of the message', (value) => firstMessage(value)?.[name]),
  ),
];

const SETTLED = {
  ack: [also({ acked: 'ok' })],
  nack: [also({ nacked: 'ok' })],
  deadLetter: [also({ routed: 'ok', deadLettered: 'ok', dlqSubject: 'deadLetterTopic' })],
} as const;

const partitionKey = unused('partitionKey', 'a topic has one order');

export const QUEUE: readonly Spelling[] = [
  {
    path: 'queueBus.publish',
    when: 'subject',
    to: 'queueBus.publish',
    takes: [rename({ subject: 'topic' }), partitionKey],
  },
  { path: 'queueBus.publish', to: 'queueBus.publish', takes: [partitionKey] },
  {
    path: 'queueBus.consume',
    when: 'subject',
    to: 'queueBus.consume',
    takes: [rename({ subject: 'topic' }), fill({ maxMessages: 1 })],
    gives: oneMessage,
  },
  {
    path: 'queueBus.streamSubscribe',
    when: 'stream',
    to: 'queueBus.streamSubscribe',
    takes: [
      rename({ stream: 'topic' }),
      unused('consumerGroup', 'a subscription takes no messages from others'),
    ],
  },
  {
    path: 'storage.queue.enqueue',
    to: 'queueBus.publish',
    takes: [rename({ queue: 'topic' })],
    gives: [also({ jobId: 'messageId' })],
  },
  {
    path: 'storage.queue.dequeue',
    to: 'queueBus.consume',
    takes: [rename({ queue: 'topic', durationMs: 'visibilityMs' }), fill({ maxMessages: 1 })],
    gives: [
      member('found', 'whether there was one', (value) => firstMessage(value) !== undefined),
      member('jobId', 'its delivery token, for `ack`', (value) => firstMessage(value)?.deliveryToken),
      member('payload', 'of the message', (value) => firstMessage(value)?.payload),
    ],
  },
  ...(['ack', 'nack', 'deadLetter'] as const).map(
    (verb): Spelling => ({
      path: `queueBus.${verb}`,
      when: 'messageId',
      to: `queueBus.${verb}`,
      takes: [
        rename({ messageId: 'deliveryToken' }),
        ...(verb === 'deadLetter' ? [fill({ reason: 'rejected' })] : []),
      ],
      gives: SETTLED[verb],
    }),
  ),
  { path: 'queueBus.ack', to: 'queueBus.ack', gives: SETTLED.ack },
  { path: 'queueBus.nack', to: 'queueBus.nack', gives: SETTLED.nack },
  { path: 'queueBus.deadLetter', to: 'queueBus.deadLetter', gives: SETTLED.deadLetter },
  {
    path: 'queueBus.streamPublish',
    to: 'queueBus.publish',
    takes: [rename({ stream: 'topic', record: 'payload' }), partitionKey],
    gives: [also({ offset: 'messageId' })],
  },
];
