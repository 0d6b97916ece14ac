/**
 * Sends what a lane holds, one delivery a turn.
 *
 * I1  Who sends a delivery has claimed it by compare-and-set; while the claim lasts nobody else does. A claim of
 *     a process that died ends by itself, and the delivery is sent again: at least once, never silently lost.
 * I2  The outcome, the next attempt and the health of the subscription are one commit.
 * I3  Nothing is sent for a subscription that is gone or whose circuit is open. For one that has failed, only what a
 *     caller asked to send again: one attempt, whatever the circuit says.
 * I4  An open circuit is probed by one delivery of one process.
 */
import type { Egress } from '@gantry/egress';
import type { CommitGroup, Store, Write } from '@gantry/store';
import type { Logger } from 'pino';
import type { MasterKey } from '../master-key.ts';
import { type Delivery, PENDING, pendingWrite, removeWrite, toDelivery } from './delivery.ts';
import { circuitOf, whileProbing } from './health.ts';
import type { Next } from './lanes.ts';
import type { WebhookOutbox } from './outbox.ts';
import { openSecrets } from './secret.ts';
import { type Outcome, send } from './send.ts';
import { type DropReason, dropWrites, settledSubscription, settlementWrites } from './settlement.ts';
import { type Subscription, subscriptionWrite, type WebhookKey } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Twice what an attempt takes. A claim whose delivery could not be sent, for want of the store, holds it up so long. */
export const CLAIM_MS = 12_000;
/** A lane looks at this many; when all of them wait for a later attempt, those behind them wait too. */
const PAGE = 256;
const SETTLE_TRIES_MAX = 5;

const AGAIN: Next = { next: 'again' };
const IDLE: Next = { next: 'idle' };

export interface DispatcherOptions {
  readonly store: Store;
  readonly egress: Egress;
  readonly masterKey: MasterKey;
  readonly subscriptions: Subscriptions;
  readonly outbox: Pick<WebhookOutbox, 'seen'>;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** What each lane has read and not yet worked on. */
  readonly #pages = new Map<string, readonly Delivery[]>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  async turn(key: WebhookKey): Promise<Next> {
    const { subscriptions, now } = this.#options;
    const subscription = await subscriptions.read(key);
    const page = await this.#page(key);
    const next = await this.#work(key, subscription, page, now());
    if (next.next !== 'again') this.#pages.delete(key.webhookId);
    return next;
  }

  async #work(
    key: WebhookKey,
    subscription: Subscription | null,
    page: readonly Delivery[],
    now: number,
  ): Promise<Next> {
    if (page.length === 0) return IDLE;
    if (subscription === null)
      return this.#clear(
        key,
        page.map(removeWrite).map((write) => [write]),
      );
    if (subscription.state === 'failed') return this.#workFailed(subscription, page, now);
    const due = page.filter((delivery) => isDue(delivery, now));
    const circuit = circuitOf(subscription.health, now);
    if (circuit === 'open' && subscription.durable) return sleep(subscription.health.openUntil ?? now);
    const [first] = due;
    if (!first) return sleep(Math.min(...page.map(({ dueAt }) => dueAt ?? now)));
    if (circuit === 'open') return this.#drop(subscription, due, 'circuit_open');
    this.#pages.set(
      key.webhookId,
      page.filter((delivery) => delivery !== first),
    );
    return this.#deliver(subscription, first, circuit === 'half-open');
  }

  async #workFailed(subscription: Subscription, page: readonly Delivery[], now: number): Promise<Next> {
    const [asked, others] = [page.filter(isResend), page.filter((delivery) => !isResend(delivery))];
    if (others.length > 0) return this.#drop(subscription, others, 'subscription_failed');
    const first = asked.find((delivery) => isDue(delivery, now));
    if (!first) return sleep(Math.min(...asked.map(({ dueAt }) => dueAt ?? now)));
    this.#pages.delete(subscription.webhookId);
    return this.#deliver(subscription, first, false);
  }

  /** From memory while it has something due. */
  async #page(key: WebhookKey): Promise<readonly Delivery[]> {
    const { store, outbox, now } = this.#options;
    const read = this.#pages.get(key.webhookId);
    if (read?.some((delivery) => isDue(delivery, now()))) return read;
    const filter = { ref: key.webhookId, oldestFirst: true, limit: PAGE } as const;
    const found = (await store.entries.list(PENDING, key.tenant, filter)).map(toDelivery);
    // By id they come run by run; they leave in the order of their events.
    const page = found.sort((a, b) => a.createdAt - b.createdAt);
    outbox.seen(key, page, now());
    this.#pages.set(key.webhookId, page);
    return page;
  }

  /** I3. What another process changed meanwhile is its own business. */
  #drop(
    { tenant, webhookId, durable }: Subscription,
    deliveries: readonly Delivery[],
    reason: DropReason,
  ): Promise<Next> {
    const now = this.#options.now();
    const groups = deliveries.map((delivery) => dropWrites(delivery, durable, reason, now));
    return this.#clear({ tenant, webhookId }, groups);
  }

  async #clear({ webhookId }: WebhookKey, groups: readonly CommitGroup[]): Promise<Next> {
    await this.#options.store.commit(groups);
    this.#pages.delete(webhookId);
    return AGAIN;
  }

  async #deliver(subscription: Subscription, delivery: Delivery, isProbe: boolean): Promise<Next> {
    const { store, egress, masterKey, now } = this.#options;
    const secrets = openSecrets(masterKey, subscription, now());
    const claimed = await this.#claim(subscription, delivery, isProbe);
    if (!claimed) return AGAIN;
    const outcome = await send({ egress, runs: store.runs, now }, subscription, claimed, secrets);
    await this.#settle(claimed, outcome);
    return AGAIN;
  }

  /** I1, I4. Null when another process has it. */
  async #claim(subscription: Subscription, delivery: Delivery, isProbe: boolean): Promise<Delivery | null> {
    const until = this.#options.now() + CLAIM_MS;
    const claimed = { ...delivery, dueAt: until, attempts: delivery.attempts + 1 };
    const group: Write[] = [pendingWrite(claimed)];
    if (isProbe) {
      const health = whileProbing(subscription.health, until);
      group.push(subscriptionWrite({ ...subscription, health }));
    }
    const [result] = await this.#options.store.commit([group]);
    return result?.won ? { ...claimed, version: delivery.version + 1 } : null;
  }

  /** I2. The subscription may have changed during the attempt; then its newest version counts. */
  async #settle(delivery: Delivery, outcome: Outcome): Promise<void> {
    const { store, subscriptions, now, random } = this.#options;
    for (let tries = 0; tries < SETTLE_TRIES_MAX; tries++) {
      const subscription = await subscriptions.read(delivery);
      if (subscription === null) {
        await store.commit([[removeWrite(delivery)]]);
        return;
      }
      const at = now();
      const ofDelivery = settlementWrites(delivery, { outcome, subscription, now: at, random: random() });
      const settled = settledSubscription(subscription, outcome, at);
      const ofSubscription = settled === subscription ? [] : [subscriptionWrite(settled)];
      const [result] = await store.commit([[...ofDelivery, ...ofSubscription]]);
      if (result?.won) return this.#settled(subscription, settled, outcome);
      const isLostClaim = result !== undefined && result.write < ofDelivery.length;
      if (isLostClaim) return;
    }
    throw new Error(`delivery ${delivery.deliveryId} could not be settled`);
  }

  #settled(before: Subscription, after: Subscription, outcome: Outcome): void {
    const { subscriptions, log } = this.#options;
    const { webhookId, secretFingerprint } = after;
    if (outcome.kind !== 'delivered') {
      const { kind, reason } = outcome;
      log.debug({ webhookId, secretFingerprint, outcome: kind, reason }, 'webhook delivery failed');
    }
    if (after.state === before.state) return;
    subscriptions.put(after);
    log.warn({ webhookId, secretFingerprint }, 'webhook subscription failed too often and was switched off');
  }
}

const isResend = ({ resendOf }: Delivery): boolean => resendOf !== undefined;

const isDue = ({ dueAt }: Delivery, now: number): boolean => dueAt !== null && dueAt <= now;

const sleep = (until: number): Next => ({ next: 'sleep', until });
