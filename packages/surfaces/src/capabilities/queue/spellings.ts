import type { DataObject } from '../../calls/data.ts';
import {
  also,
  fill,
  isList,
  member,
  type OwnSpelling,
  rename,
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

const SETTLED: readonly [call: string, gives: Step[]][] = [
  ['ack', [also({ acked: 'ok' })]],
  ['nack', [also({ nacked: 'ok' })]],
  ['deadLetter', [also({ routed: 'ok', deadLettered: 'ok', dlqSubject: 'deadLetterTopic' })]],
];

const partitionKey = unused('partitionKey', 'a topic has one order');

export const QUEUE: readonly OwnSpelling[] = [
  { call: 'publish', when: 'subject', takes: [rename({ subject: 'topic' }), partitionKey] },
  { call: 'publish', takes: [partitionKey] },
  {
    call: 'consume',
    when: 'subject',
    takes: [rename({ subject: 'topic' }), fill({ maxMessages: 1 })],
    gives: oneMessage,
  },
  {
    call: 'streamSubscribe',
    when: 'stream',
    takes: [
      rename({ stream: 'topic' }),
      unused('consumerGroup', 'a subscription takes no messages from others'),
    ],
  },
  {
    call: 'ctx.storage.queue.enqueue',
    to: 'publish',
    takes: [rename({ queue: 'topic' })],
    gives: [also({ jobId: 'messageId' })],
  },
  {
    call: 'ctx.storage.queue.dequeue',
    to: 'consume',
    takes: [rename({ queue: 'topic', durationMs: 'visibilityMs' }), fill({ maxMessages: 1 })],
    gives: [
      member('found', 'whether there was one', (value) => firstMessage(value) !== undefined),
      member('jobId', 'its delivery token, for `ack`', (value) => firstMessage(value)?.deliveryToken),
      member('payload', 'of the message', (value) => firstMessage(value)?.payload),
    ],
  },
  ...SETTLED.map(([call, gives]) => ({
    call,
    when: 'messageId',
    takes: [
      rename({ messageId: 'deliveryToken' }),
      ...(call === 'deadLetter' ? [fill({ reason: 'rejected' })] : []),
    ],
    gives,
  })),
  ...SETTLED.map(([call, gives]) => ({ call, gives })),
  {
    call: 'streamPublish',
    to: 'publish',
    takes: [rename({ stream: 'topic', record: 'payload' }), partitionKey],
    gives: [also({ offset: 'messageId' })],
  },
];
