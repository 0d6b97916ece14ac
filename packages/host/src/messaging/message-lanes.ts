/**
 * Sends the messages of connectors, one message of a connector per turn.
 *
 * I1  A message is claimed by compare-and-set before it is sent, together with its place in the rate limit of
 *     the connector: processes that share a database share the limit. A claim of a process that died expires,
 *     and the message is sent again with the same id.
 * I2  The outcome and the state of the connector are one commit.
 * I3  Messages of a deleted connector become dead, and can be read until they expire.
 */

import type { RateLimit } from '@gantry/protocol';
import { type Caller, type RecordKind, readRecord, systemCaller } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { claimDelivery, finished, settleAll, settleDelivery } from '../deliveries/delivery.ts';
import type { LaneKey, Next } from '../deliveries/lanes.ts';
import { AGAIN, PendingPages, sleep } from '../deliveries/pending-pages.ts';
import type { Outcome } from '../deliveries/post.ts';
import { settled } from '../deliveries/settlement.ts';
import type { Parts } from '../parts.ts';
import { connected, connectors, disconnected, type StoredConnector } from './connector.ts';
import { forRecipients, MESSAGES, type Message, type MessageRecord } from './message.ts';
import type { Receivers, Sent } from './receivers.ts';

/** Twice the duration of the slowest attempt. */
export const CLAIM_MS = 60_000;
const ACTOR = 'messaging';

export interface MessageLanesOptions extends Pick<Parts, 'changes' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries'>;
  readonly receivers: Pick<Receivers, 'send'>;
  /** From 0 to 1. */
  readonly random: () => number;
}

export class MessageLanes {
  readonly #options: MessageLanesOptions;
  readonly #pages: PendingPages<MessageRecord>;

  constructor(options: MessageLanesOptions) {
    const { store, now } = options;
    this.#options = options;
    this.#pages = new PendingPages({ entries: store.entries, kind: MESSAGES.pending, now });
  }

  async turn(key: LaneKey): Promise<Next> {
    const connector = await readRecord(this.#options.store.entries, connectors, key.tenant, key.ref);
    return this.#pages.turn(key, (page) =>
      connector
        ? this.#pages.workOnFirst(key, page, (first) => this.#work(connector, first))
        : this.#giveUp(key, page),
    );
  }

  async #work(connector: StoredConnector, message: Message): Promise<Next> {
    const claim = await this.#claim(connector, message);
    if (claim === null) return AGAIN;
    if ('until' in claim) return sleep(claim.until);
    await this.#send(connector, claim);
    return AGAIN;
  }

  /** I3. */
  async #giveUp(key: LaneKey, page: readonly Message[]): Promise<Next> {
    await settleAll(this.#options.changes, ACTOR, MESSAGES, page, ({ record }, now) => {
      const last = { ...record.last, at: now, reason: 'connector_removed' };
      return finished({ ...record, last }, 'dead', now);
    });
    this.#pages.forget(key);
    return AGAIN;
  }

  /** I1. Null if another process has claimed it. */
  #claim(
    { id, record: { rateLimit } }: StoredConnector,
    message: Message,
  ): Promise<Message | { readonly until: number } | null> {
    const { changes } = this.#options;
    return changes.run(callerOf(message.tenant), async (change) => {
      const times = rateLimit && (await change.find(sendTimes, id));
      const place = rateLimit && taken(times?.record.times ?? [], rateLimit, change.now);
      if (place && 'until' in place) return place;
      const claimed = await claimDelivery(change, message, change.now + CLAIM_MS);
      if (claimed && place) await change.put(sendTimes, place, id);
      return claimed;
    });
  }

  async #send({ id, record: { owner, target } }: StoredConnector, message: Message): Promise<void> {
    const { receivers, changes, random, log } = this.#options;
    const sent = await receivers.send(owner, target, message.id, message.record);
    const attempt = { outcome: outcomeOf(sent), random: random() };
    const left = 'left' in sent && sent.left ? forRecipients(message.record, sent.left) : message.record;
    await changes.run(callerOf(message.tenant), async (change) => {
      const next = settled(left, { ...attempt, now: change.now });
      if (!(await settleDelivery(change, MESSAGES, message, withoutText(next)))) return;
      // I2. It may have changed during the attempt; then its newest version is used
      const connector = await change.find(connectors, id);
      if (!connector) return;
      if (sent.kind === 'disconnected')
        change.replace(connector, disconnected(connector.record, sent.reason));
      if (sent.kind === 'delivered' && connector.record.state === 'disconnected')
        change.replace(connector, connected(connector.record));
    });
    if (sent.kind !== 'delivered')
      log.debug(
        { connectorId: id, deliveryId: message.id, outcome: sent.kind, reason: sent.reason },
        'message not sent',
      );
  }
}

/** A rejected credential may be corrected, so the message is retried. */
const outcomeOf = (sent: Sent): Outcome<string> =>
  sent.kind === 'disconnected' ? { kind: 'refused', reason: sent.reason, status: 401 } : sent;

type Settled = ReturnType<typeof settled<MessageRecord>>;

function withoutText(next: Settled): Settled {
  if (next.state !== 'delivered') return next;
  const { envelope: _sent, ...record } = next.record;
  return { ...next, record };
}

const callerOf = (tenant: string): Caller => systemCaller(ACTOR, { tenant });

const TIMES_KEPT_MS = 7 * 86_400_000;

/** The times of recent sends of a connector within its window, oldest first, shared by all processes. */
export const sendTimes: RecordKind<{ readonly times: readonly number[] }> = {
  kind: 'connector-times',
  idPrefix: 'cnt',
  expiresAt: (_, now) => now + TIMES_KEPT_MS,
};

/**
 * At most `requests` within any `perSeconds`: returns the times with one more, or the time when one more is permitted.
 */
function taken(
  times: readonly number[],
  { requests, perSeconds }: RateLimit,
  now: number,
): { readonly times: readonly number[] } | { readonly until: number } {
  const windowMs = perSeconds * 1_000;
  const recent = times.filter((at) => at > now - windowMs);
  const oldest = recent.at(-requests);
  return oldest === undefined ? { times: [...recent, now] } : { until: oldest + windowMs };
}
