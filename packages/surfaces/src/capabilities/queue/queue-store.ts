/** The operations of a database for queues. `database-queue.ts` builds the port on them. Threads load this file. */
import type { PortWrite } from '../../calls/surface-call.ts';
import type {
  ConsumerGroup,
  QueueDraft,
  QueueMessage,
  QueueOutcome,
  QueueSettled,
} from '../../ports/queue.ts';
import { bytesOf } from '../../text.ts';

export interface QueueLease extends ConsumerGroup {
  readonly messagesMax: number;
  readonly visibilityMs: number;
  readonly deliveriesMax?: number | undefined;
  /** `refuse` (`nothingThere`) changes and records nothing. */
  readonly ifEmpty: 'answer' | 'refuse';
}

/** A message that becomes a dead letter for a group. */
export interface NewDeadLetter extends ConsumerGroup {
  readonly seq: number;
  readonly deliveryCount: number;
  readonly reason: string;
}

export interface Logged extends QueueMessage {
  readonly seq: number;
}

/** As stored in databases: payload and headers as JSON. */
export interface MessageRow {
  readonly seq: number;
  readonly message_id: string;
  readonly payload: string;
  readonly headers: string;
}

export const loggedOf = ({ seq, message_id: messageId, payload, headers }: MessageRow): Logged => ({
  seq,
  messageId,
  payload: JSON.parse(payload),
  headers: JSON.parse(headers),
});

/** The recorded answer of a lease. It has no payloads: they would be stored again for every group. */
export interface Granted {
  readonly handles: readonly string[];
  /** Whether messages were moved to the dead letters of the topic. */
  readonly buried: boolean;
  /** Messages of the handles, if already loaded. Never recorded. */
  readonly messages?: readonly Logged[];
}

/** A journaled call, or an action of the host. */
export type QueueCall = PortWrite | { readonly tenant: string; readonly now: number };

/** The group that `makeWay` is called for. */
export type Waiting = ConsumerGroup & Pick<QueueLease, 'deliveriesMax'>;

export interface QueueStore {
  publish(draft: QueueDraft, call: PortWrite): Promise<{ messageId: string }>;
  lease(lease: QueueLease, call: QueueCall): Promise<Granted>;
  /**
   * After a lease found nothing: sets delayed messages aside,
   * skips expired ones, and moves spent ones to dead letters (`buried`).
   */
  makeWay(consumers: Waiting, call: QueueCall): Promise<{ readonly buried: boolean }>;
  /** The messages with these numbers that still exist. */
  messages(seqs: readonly number[], tenant: string): Promise<readonly Logged[]>;
  settle(handle: string, outcome: QueueOutcome, call: QueueCall): Promise<QueueSettled>;
  /** When a group should check again; null if only a new message can change anything. */
  readyAt(consumers: ConsumerGroup, tenant: string, now: number): Promise<number | null>;
  /** In order, after a sequence number. */
  read(topic: string, after: number, tenant: string, now: number): Promise<readonly Logged[]>;
  lastSeq(topic: string, tenant: string): Promise<number>;
  /** At most `SWEEP_BATCH`. */
  sweep(now: number): Promise<number>;
  health(): Promise<void>;
}

/** A lease ends with the message that exceeds it, so that an answer stays far below the limit of a channel. */
export const LEASE_BYTES_MAX = 4_194_304;
export const READ_LIMIT = 50;
/** Small, so that a sweep does not delay live writes for long. */
export const SWEEP_BATCH = 500;
/** Counted for each message in addition to its text, so that many small ones count too. */
const MESSAGE_OVERHEAD_BYTES = 256;

export interface MessageTexts {
  readonly topic: string;
  readonly payload: string;
  readonly headers: string;
}

export const messageBytes = ({ topic, payload, headers }: MessageTexts): number =>
  MESSAGE_OVERHEAD_BYTES + bytesOf(topic) + bytesOf(payload) + bytesOf(headers);

/** The most deliveries that `makeWay` reads. */
export const WAY_LIMIT = 100;

export interface HandleParts {
  readonly groupId: number;
  readonly seq: number;
  readonly count: number;
}

export const handleOf = ({ groupId, seq, count }: HandleParts): string => `${groupId}.${seq}.${count}`;

/** Null if the text is not a handle. */
export function readHandle(handle: string): HandleParts | null {
  const [groupId, seq, count, ...rest] = handle.split('.').map(Number);
  if (rest.length > 0 || ![groupId, seq, count].every(Number.isSafeInteger)) return null;
  return { groupId: groupId!, seq: seq!, count: count! };
}
