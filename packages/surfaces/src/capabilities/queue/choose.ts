/** Selects the messages to deliver among those that a database found. Pure; threads load this file. */
import { isDeadLetterTopic } from './dead-letter.ts';
import { LEASE_BYTES_MAX, type QueueLease } from './queue-store.ts';

export interface Found {
  readonly seq: number;
  readonly count: number;
  readonly bytes: number;
}

export interface Room {
  readonly messages: number;
  readonly bytes: number;
}

export interface DueChoice<Row> {
  /** To move to the dead letters: I4 of the port. */
  readonly spent: readonly Row[];
  readonly leased: readonly Row[];
  /** Remaining capacity for messages that were never delivered. */
  readonly room: Room;
}

export function chooseDue<Row extends Found>(
  rows: readonly Row[],
  about: Pick<QueueLease, 'topic' | 'messagesMax' | 'deliveriesMax'>,
): DueChoice<Row> {
  const { deliveriesMax = Number.POSITIVE_INFINITY } = about;
  const isSpent = ({ count }: Row): boolean => count >= deliveriesMax && !isDeadLetterTopic(about.topic);
  const alive = rows.filter((row) => !isSpent(row));
  const leased = fitting(alive, LEASE_BYTES_MAX).map((row) => ({ ...row, count: row.count + 1 }));
  const bytes = LEASE_BYTES_MAX - sum(leased);
  const messages = leased.length < alive.length || bytes <= 0 ? 0 : about.messagesMax - leased.length;
  return { spent: rows.filter(isSpent), leased, room: { messages, bytes } };
}

export interface FreshChoice<Row> {
  readonly delayed: readonly Row[];
  readonly leased: readonly Row[];
  readonly next: number;
}

const LOOK_AHEAD = 20;

/** How many to read first. Delayed messages are skipped, and every lease pays for reading ahead. */
export const freshLimit = ({ messages }: Room): number => messages + LOOK_AHEAD;

/** The next limit if all of those are delayed: there may be many. */
export const FURTHER_LIMIT = 1_000;

export interface FreshAbout {
  readonly now: number;
  readonly from: number;
  readonly room: Room;
  /** After the last message of the topic, if the rows are all that can be delivered; skips expired ones. */
  readonly end: number | null;
}

export function chooseFresh<Row extends Found & { readonly available_at: number }>(
  rows: readonly Row[],
  about: FreshAbout,
): FreshChoice<Row> {
  const isDelayed = ({ available_at }: Row): boolean => available_at > about.now;
  const ready = rows.filter((row) => !isDelayed(row)).slice(0, about.room.messages);
  const leased = fitting(ready, about.room.bytes).map((row) => ({ ...row, count: 1 }));
  const refused = rows.find((row) => !isDelayed(row) && !leased.some(({ seq }) => seq === row.seq));
  const passed = rows.filter(({ seq }) => refused === undefined || seq < refused.seq);
  const after = (passed.at(-1)?.seq ?? about.from - 1) + 1;
  const next = refused === undefined ? Math.max(after, about.end ?? 0) : after;
  return { delayed: passed.filter(isDelayed), leased, next };
}

/** The first message always fits, so that a group cannot get stuck. */
function fitting<Row extends Found>(rows: readonly Row[], room: number): Row[] {
  let bytes = 0;
  return rows.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= room;
  });
}

const sum = (rows: readonly Found[]): number => rows.reduce((total, { bytes }) => total + bytes, 0);

/** How many of the messages that a group has not seen are read to decide when it should check again. */
export const UNSEEN_LOOKED = 256;

export interface Unseen {
  /** Includes expired messages, which a lease skips. */
  readonly count: number;
  /** When the first message that has not expired becomes available. */
  readonly firstAt: number | null;
}

/**
 * Null if only a new message can change anything. If the limit was reached, a lease is due now: it sets
 * delayed and expired messages aside.
 */
export function readyAtOf({ count, firstAt }: Unseen, dueAt: number | null, now: number): number | null {
  if (count === UNSEEN_LOOKED) return now;
  const times = [firstAt, dueAt].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}
