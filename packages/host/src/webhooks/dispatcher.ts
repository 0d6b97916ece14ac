/**
 * Sends what a lane holds, one delivery a turn.
 *
 * I1  A delivery is claimed by compare-and-set before it is sent; while the claim lasts no other process sends it. A claim
 *     of a process that died ends by itself, and the delivery is sent again: at least once, never silently lost.
 * I2  The outcome, the next attempt and the health of the subscription are one commit.
 * I3  Nothing is sent for a subscription that is gone or whose circuit is open. For one that has failed, only what a
 *     caller asked to send again: one attempt, whatever the circuit says.
 * I4  An open circuit is probed by one delivery of one process.
 */

import type { Egress } from '@gantry/egress';
import type { Caller } from '@gantry/resources';
import { systemCaller } from '@gantry/resources';
import type { Store } from '@gantry/store';
import {
  claimDelivery,
  isDue,
  type NextDelivery,
  settleAll,
  settleDelivery,
} from '../deliveries/delivery.ts';
import { CLAIM_MS } from '../deliveries/delivery-lanes.ts';
import type { LaneKey, Next } from '../deliveries/lanes.ts';
import { AGAIN, PendingPages, sleep, sleepUntilDue } from '../deliveries/pending-pages.ts';
import { HeartbeatEvents } from '../heartbeats/event-log.ts';
import type { Parts } from '../parts.ts';
import { DELIVERIES, type Delivery, type DeliveryRecord } from './delivery.ts';
import { circuitOf, whileProbing } from './health.ts';
import type { WebhookOutbox } from './outbox.ts';
import { type LinksOf, type Outcome, send } from './send.ts';
import { type DropReason, dropped, settledDelivery, settledWebhook } from './settlement.ts';
import type { Subscriptions } from './subscriptions.ts';
import { openSecrets, type Webhook, type WebhookRecord, webhooks } from './webhook.ts';

const ACTOR = 'webhooks';

export interface DispatcherOptions extends Pick<Parts, 'changes' | 'masterKey' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly egress: Egress;
  readonly subscriptions: Subscriptions;
  readonly outbox: Pick<WebhookOutbox, 'seen'>;
  readonly linksOf: LinksOf;
  /** From 0 to 1. */
  readonly random: () => number;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #pages: PendingPages<DeliveryRecord>;

  constructor(options: DispatcherOptions) {
    const { store, outbox, now } = options;
    this.#options = options;
    this.#pages = new PendingPages({
      entries: store.entries,
      kind: DELIVERIES.pending,
      now,
      onRead: (key, page) => outbox.seen(key, page, now()),
    });
  }

  async turn(key: LaneKey): Promise<Next> {
    const { subscriptions, now } = this.#options;
    const webhook = await subscriptions.read(key);
    return this.#pages.turn(key, (page) => this.#work(key, webhook, page, now()));
  }

  async #work(key: LaneKey, webhook: Webhook | null, page: readonly Delivery[], now: number): Promise<Next> {
    if (webhook === null) return this.#clear(key, page, () => null);
    const { state, health, durable } = webhook.record;
    const drop = (deliveries: readonly Delivery[], reason: DropReason) =>
      this.#clear(key, deliveries, (delivery, at) => dropped(delivery, durable, reason, at));
    const deliverFirst = (isProbe: boolean) =>
      this.#pages.workOnFirst(key, page, (first) => this.#deliver(webhook, first, isProbe));
    if (state === 'failed') {
      const others = page.filter((delivery) => !isResend(delivery));
      return others.length > 0 ? drop(others, 'subscription_failed') : deliverFirst(false);
    }
    const circuit = circuitOf(health, now);
    if (circuit !== 'open') return deliverFirst(circuit === 'half-open');
    if (durable) return sleep(health.openUntil ?? now);
    const due = page.filter((delivery) => isDue(delivery, now));
    return due.length > 0 ? drop(due, 'circuit_open') : sleepUntilDue(page, now);
  }

  async #clear(
    key: LaneKey,
    deliveries: readonly Delivery[],
    nextOf: (delivery: Delivery, now: number) => NextDelivery<DeliveryRecord> | null,
  ): Promise<Next> {
    await settleAll(this.#options.changes, ACTOR, DELIVERIES, deliveries, nextOf);
    this.#pages.forget(key);
    return AGAIN;
  }

  async #deliver(webhook: Webhook, delivery: Delivery, isProbe: boolean): Promise<Next> {
    const { store, egress, masterKey, linksOf, now } = this.#options;
    const secrets = openSecrets(masterKey, webhook, now());
    const claimed = await this.#claim(webhook, delivery, isProbe);
    if (!claimed) return AGAIN;
    const reads = { runs: store.runs, heartbeats: new HeartbeatEvents(store.entries) };
    const outcome = await send({ egress, ...reads, linksOf, now }, webhook.record, claimed, secrets);
    await this.#settle(claimed, outcome);
    return AGAIN;
  }

  /** I1, I4. Null when another process has it. */
  #claim(webhook: Webhook, delivery: Delivery, isProbe: boolean): Promise<Delivery | null> {
    const { changes, now } = this.#options;
    const until = now() + CLAIM_MS;
    const probed = { ...webhook.record, health: whileProbing(webhook.record.health, until) };
    return changes.run(callerOf(delivery.tenant), async (change) => {
      const current = isProbe ? await change.find(webhooks, webhook.id) : webhook;
      if (current?.version !== webhook.version) return null;
      const claimed = await claimDelivery(change, delivery, until);
      if (claimed && isProbe) change.replace(webhook, probed);
      return claimed;
    });
  }

  /** I2. The subscription may have changed during the attempt; then its newest version counts. */
  async #settle(delivery: Delivery, outcome: Outcome): Promise<void> {
    const { changes, random } = this.#options;
    const settled = await changes.run(callerOf(delivery.tenant), async (change) => {
      const webhook = await change.find(webhooks, delivery.record.webhookId);
      const input = { outcome, now: change.now, random: random() };
      const next = webhook && settledDelivery(delivery, { ...input, webhook: webhook.record });
      if (!(await settleDelivery(change, DELIVERIES, delivery, next)) || !webhook) return null;
      const after = settledWebhook(webhook.record, outcome, change.now);
      return after === webhook.record
        ? { webhook, after: webhook }
        : { webhook, after: change.replace(webhook, after) };
    });
    if (settled) this.#settled(settled.webhook.record, settled.after, outcome);
  }

  #settled(before: WebhookRecord, after: Webhook, outcome: Outcome): void {
    const { subscriptions, log } = this.#options;
    const { id: webhookId, record } = after;
    const { secretFingerprint } = record;
    if (outcome.kind !== 'delivered') {
      const { kind, reason } = outcome;
      log.debug({ webhookId, secretFingerprint, outcome: kind, reason }, 'webhook delivery failed');
    }
    if (record.state === before.state) return;
    subscriptions.put(after);
    log.warn({ webhookId, secretFingerprint }, 'webhook subscription failed too often and was switched off');
  }
}

const callerOf = (tenant: string): Caller => systemCaller(ACTOR, { tenant });

const isResend = ({ record }: Delivery): boolean => record.resendOf !== undefined;
