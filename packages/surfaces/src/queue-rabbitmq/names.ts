/**
 * What topics and groups are called in RabbitMQ, and what they are made of. A topic is an exchange with a log (a
 * stream) behind it; a group is a queue behind the same exchange, and a second one that says how bulky its messages
 * are. No queue refuses messages: who publishes looks for room first, so that a message reaches all groups or none.
 *
 * The default group is that of consumers who name none. It has no digest of its own: the place of a topic is that of
 * its default group, and stands for both.
 *
 * D1  Its queue is made with the topic and keeps what is published before anyone asks: `kept`.
 * D2  When a group with a name is made first, nobody has asked for that queue, and the log has the same: `dropped`.
 * D3  Once somebody asks for it, it is a group like the others: `claimed`. If it was dropped, it is filled from the log.
 */
import { hash } from 'node:crypto';
import type { QueueBounds, QueuePlace } from '../ports/queue.ts';

/** By digests: names of the protocol may hold anything and be too long. */
export interface Place {
  readonly tenant: string;
  readonly topic: string;
  /** That of the topic for the default group. */
  readonly group: string;
}

const digest = (...parts: string[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

export const tenantOf = (tenant: string): string => digest(tenant);

export function placeOf(tenant: string, { topic, group }: QueuePlace): Place {
  const base = digest(tenant, topic);
  return {
    tenant: tenantOf(tenant),
    topic: base,
    group: group === '' ? base : digest(tenant, topic, group),
  };
}

export const isDefaultGroup = ({ topic, group }: Place): boolean => topic === group;

/** A step forward at a time (D1 to D3), so that late news do no harm. */
const DEFAULT_GROUP_STATES = ['kept', 'dropped', 'claimed'] as const;
export type DefaultGroupState = (typeof DEFAULT_GROUP_STATES)[number];

export const laterState = (one: DefaultGroupState, other: DefaultGroupState): DefaultGroupState =>
  DEFAULT_GROUP_STATES.indexOf(one) > DEFAULT_GROUP_STATES.indexOf(other) ? one : other;

export const defaultGroupOf = (place: Place): Place => ({ ...place, group: place.topic });

export interface PlaceNames {
  readonly exchange: string;
  readonly log: string;
  readonly queue: string;
  /** One entry for each unit that a message has beside its first: see `room.ts`. */
  readonly bulk: string;
  /** There when the group is complete. */
  readonly ready: string;
}

export function namesOf({ topic, group }: Place): PlaceNames {
  const queue = `gantry.queue.group.${group}`;
  return {
    exchange: `gantry.queue.topic.${topic}`,
    log: `gantry.queue.log.${topic}`,
    queue,
    bulk: `${queue}.bulk`,
    ready: `${queue}.ready`,
  };
}

/** Routing keys of a topic. */
export const KEYS = { message: 'message', bulk: 'bulk' } as const;

const MS = 1_000;
/** All that fits into the quota of a tenant is there for its first group, also when the oldest segment goes. */
const LOG_SHARE = 1.5;
const SEGMENTS = 8;
const SEGMENT_BYTES_MIN = 65_536;

/** Drops its oldest: groups have messages of their own. What is past its time goes with its segment. */
export function logArguments({ retentionMs, quotaBytes }: QueueBounds) {
  const bytes = Math.ceil(quotaBytes * LOG_SHARE);
  return {
    'x-queue-type': 'stream',
    'x-max-age': `${Math.ceil(retentionMs / MS)}s`,
    'x-max-length-bytes': bytes,
    'x-stream-max-segment-size-bytes': Math.max(SEGMENT_BYTES_MIN, Math.ceil(bytes / SEGMENTS)),
  };
}

/** The port has a limit of its own, and none for dead letters; RabbitMQ 4 drops messages after 20 deliveries. */
const NO_LIMIT = 2_147_483_647;

export const groupArguments = ({ retentionMs }: QueueBounds) => ({
  'x-queue-type': 'quorum',
  'x-message-ttl': retentionMs,
  'x-delivery-limit': NO_LIMIT,
});

export const bulkArguments = ({ retentionMs }: QueueBounds) => ({ 'x-message-ttl': retentionMs });
