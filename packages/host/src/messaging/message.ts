/** One message to the receiver of a connector, and the key that identifies its repeats. */
import { given, invalid, type MessageDelivery, type MessageState } from '@gantry/protocol';
import type { RecordKind, Stored } from '@gantry/resources';
import type { EgressEnvelope } from '@gantry/surfaces';
import { type Attempts, attemptsView, DAY_MS, deliveryKinds } from '../deliveries/delivery.ts';
import { recipientsOf, type Target } from './target.ts';

/** A key is kept as long as the message can be read or sent again. */
const KEPT_MS = 30 * DAY_MS;

export interface MessageRecord extends Attempts {
  readonly connectorId: string;
  readonly channel: string;
  /** Deleted after delivery: the text is no longer needed. */
  readonly envelope?: EgressEnvelope;
  readonly runId?: string;
  readonly nodeId?: string;
}

export type Message = Stored<MessageRecord>;

export const MESSAGES = deliveryKinds<MessageRecord, MessageState>(
  { kind: 'message', idPrefix: 'msg', ref: ({ connectorId }) => connectorId },
  { pending: 0, delivered: 7 * DAY_MS, dead: KEPT_MS },
);

export const messageKeys: RecordKind<{
  readonly deliveryId: string;
  readonly digest: string;
  readonly until: number;
}> = { kind: 'message-key', idPrefix: 'key', expiresAt: ({ until }) => until };

export const keyEndsAt = (now: number): number => now + KEPT_MS;

export function messageView({ id, record }: Message, state: MessageState): MessageDelivery {
  const { connectorId, channel, runId, nodeId } = record;
  return {
    deliveryId: id,
    connectorId,
    channel,
    state,
    ...given({ runId, nodeId }),
    ...attemptsView(record),
  };
}

const isLink = (ref: string): boolean => /^https:\/\/\S+$/.test(ref) && URL.canParse(ref);

/** Refuses content that the type of the connector cannot send. */
export function checkEnvelope({ type }: Target, { content, delivery }: EgressEnvelope): void {
  const { text = '', media = [] } = content;
  if (text.trim() === '' && media.length === 0) throw invalid('The message has neither `text` nor `media`.');
  if (type !== 'http' && !media.every(({ ref }) => isLink(ref)))
    throw invalid(`Media of ${type} messages are sent as links: each \`ref\` must be an https URL.`);
  if (type === 'smtp' && !recipientsOf(delivery.conversationId))
    throw invalid('`conversationId` of a mail must be plain addresses, separated by commas, 50 at most.');
}

/** Text with links to its media, for receivers that accept only text. */
export const textOf = ({ text = '', media = [] }: EgressEnvelope['content']): string =>
  [text, ...media.map(({ ref }) => ref)].filter((part) => part !== '').join('\n');

/** The message for some of its recipients. */
export const forRecipients = (record: MessageRecord, left: readonly string[]): MessageRecord =>
  record.envelope
    ? {
        ...record,
        envelope: {
          ...record.envelope,
          delivery: { ...record.envelope.delivery, conversationId: left.join(', ') },
        },
      }
    : record;
