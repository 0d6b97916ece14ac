/**
 * What topics and groups are called in RabbitMQ, and what they are made of. A topic is an exchange with a log (a
 * stream) behind it; a group is a queue behind the same exchange, and a second one that says how bulky its messages
 * are. No queue refuses messages: who publishes looks for room first, so that a message reaches all groups or none.
 *
 * A topic has the queue of the group without a name from the start: it keeps what is published before anyone asks. When
 * a group with a name is made first, that queue goes; should somebody ask for it later, it is made like the others.
 */
import { hash } from 'node:crypto';
import type { QueueBounds, QueuePlace } from '../ports/queue.ts';

/** By digests: names of the protocol may hold anything and be too long. */
export interface Place {
  readonly tenant: string;
  readonly topic: string;
  /** That of the topic for the group without a name. */
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

export const isGroupless = ({ topic, group }: Place): boolean => topic === group;

export const groupless = (place: Place): Place => ({ ...place, group: place.topic });

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
