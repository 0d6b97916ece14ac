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
import type { Caller, Change } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { claimed, isDue, type NextDelivery, settleDelivery } from '../deliveries/delivery.ts';
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
    if (state === 'failed') return this.#workFailed(webhook, page, now);
    const due = page.filter((delivery) => isDue(delivery, now));
    const circuit = circuitOf(health, now);
    if (circuit === 'open' && durable) return sleep(health.openUntil ?? now);
    const [first] = due;
    if (!first) return sleepUntilDue(page, now);
    if (circuit === 'open') return this.#drop(webhook, due, 'circuit_open');
    this.#pages.take(key, first);
    return this.#deliver(webhook, first, circuit === 'half-open');
  }

  async #workFailed(webhook: Webhook, page: readonly Delivery[], now: number): Promise<Next> {
    const [asked, others] = [page.filter(isResend), page.filter((delivery) => !isResend(delivery))];
    if (others.length > 0) return this.#drop(webhook, others, 'subscription_failed');
    const first = asked.find((delivery) => isDue(delivery, now));
    if (!first) return sleepUntilDue(asked, now);
    this.#pages.forget({ tenant: webhook.tenant, ref: webhook.id });
    return this.#deliver(webhook, first, false);
  }

  /** I3. */
  #drop({ tenant, id, record }: Webhook, deliveries: readonly Delivery[], reason: DropReason): Promise<Next> {
    const now = this.#options.now();
    return this.#clear({ tenant, ref: id }, deliveries, (delivery) =>
      dropped(delivery, record.durable, reason, now),
    );
  }

  /** What another process changed meanwhile is left to it. */
  async #clear(
    key: LaneKey,
    deliveries: readonly Delivery[],
    nextOf: (delivery: Delivery) => NextDelivery<DeliveryRecord> | null,
  ): Promise<Next> {
    const { changes } = this.#options;
    const clear = (delivery: Delivery) =>
      changes.run(callerOf(key.tenant), (change) => settle(change, delivery, nextOf(delivery)));
    await Promise.all(deliveries.map(clear));
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
    const record = claimed(delivery.record, until);
    const probed = { ...webhook.record, health: whileProbing(webhook.record.health, until) };
    return changes.run(callerOf(delivery.tenant), async (change) => {
      const current = isProbe ? await change.find(webhooks, webhook.id) : webhook;
      if (current?.version !== webhook.version) return null;
      if (!(await settle(change, delivery, { state: 'pending', record }))) return null;
      if (isProbe) change.replace(webhook, probed);
      return { ...delivery, record, version: delivery.version + 1 };
    });
  }

  /** I2. The subscription may have changed during the attempt; then its newest version counts. */
  async #settle(delivery: Delivery, outcome: Outcome): Promise<void> {
    const { changes, random } = this.#options;
    const settled = await changes.run(callerOf(delivery.tenant), async (change) => {
      const webhook = await change.find(webhooks, delivery.record.webhookId);
      const input = { outcome, now: change.now, random: random() };
      const next = webhook && settledDelivery(delivery, { ...input, webhook: webhook.record });
      if (!(await settle(change, delivery, next)) || !webhook) return null;
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

const settle = (change: Change, delivery: Delivery, next: NextDelivery<DeliveryRecord> | null) =>
  settleDelivery(change, DELIVERIES, delivery, next);

const callerOf = (tenant: string): Caller => ({ kind: 'system', tenant, actor: 'webhooks' });

const isResend = ({ record }: Delivery): boolean => record.resendOf !== undefined;
