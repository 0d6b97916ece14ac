/** What callers may do with subscriptions and their deliveries. */
import type { Egress, EgressReason } from '@gantry/egress';
import { limiter } from '@gantry/limiter';
import {
  newId,
  OpenwopError,
  type RegisterWebhookRequest,
  type RegisterWebhookResponse,
  type RotatedWebhookSecret,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@gantry/protocol';
import type { IdempotencyRecord, Store, Write } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import { type Delivery, deliverySummary, pendingWrite } from './delivery.ts';
import { type DeliveryFilter, type DeliveryPage, findDelivery, listDeliveries } from './delivery-list.ts';
import { HEALTHY } from './health.ts';
import { mintSecret } from './secret.ts';
import {
  resumed,
  type Subscription,
  subscriptionSummary,
  subscriptionWrite,
  toSubscription,
  WEBHOOK,
  type WebhookKey,
  webhookEntryKey,
  withSecret,
} from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

const SUBSCRIPTIONS_MAX = 100;

/** Says nothing about the address itself: the receiver may be up when there is something to deliver. */
const PASSING: ReadonlySet<EgressReason> = new Set(['resolve_failed', 'timeout']);

/** The record of an `Idempotency-Key`, made from the answer and written with its effect. */
export type RecordOf<T> = (answer: T) => IdempotencyRecord;

export interface WebhookDeskOptions {
  readonly store: Store;
  readonly egress: Pick<Egress, 'check'>;
  readonly masterKey: MasterKey;
  readonly subscriptions: Subscriptions;
  readonly wake: (key: WebhookKey) => void;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

export class WebhookDesk {
  readonly #options: WebhookDeskOptions;
  /** Registrations happen one after another, so that two at once cannot both be the hundredth. */
  readonly #registering = limiter({ max: 1 });

  constructor(options: WebhookDeskOptions) {
    this.#options = options;
  }

  /** `duplicate` says that the record lost: nothing was registered. */
  async register(
    tenant: string,
    wanted: RegisterWebhookRequest,
    record?: RecordOf<void>,
  ): Promise<RegisterWebhookResponse | 'duplicate'> {
    const problem = await this.#options.egress.check(wanted.url, { tenant });
    if (problem && !PASSING.has(problem.reason)) {
      throw new OpenwopError('webhook_url_rejected', {
        message: problem.message,
        details: { reason: problem.reason },
      });
    }
    return this.#registering.run(tenant, () => this.#register(tenant, wanted, record));
  }

  async list(tenant: string): Promise<WebhookSubscription[]> {
    const { store, now } = this.#options;
    const entries = await store.entries.list(WEBHOOK, tenant, { limit: SUBSCRIPTIONS_MAX });
    return entries.map((entry) => subscriptionSummary(toSubscription(entry), now()));
  }

  async read(key: WebhookKey): Promise<WebhookSubscription> {
    return subscriptionSummary(await this.#find(key), this.#options.now());
  }

  /** What waits for it is never sent; its lane clears it away. */
  async remove(key: WebhookKey, record?: RecordOf<void>): Promise<'removed' | 'duplicate'> {
    const { store, subscriptions, wake } = this.#options;
    for (;;) {
      const { version } = await this.#find(key);
      const write: Write = { kind: 'deleteEntry', key: webhookEntryKey(key), expectedVersion: version };
      const [result] = await store.commit([[write, ...this.#recordWrites(record, undefined)]]);
      if (result?.won === false && result.reason === 'exists') return 'duplicate';
      if (!result?.won) continue;
      subscriptions.remove(key);
      wake(key);
      return 'removed';
    }
  }

  async deliveries(key: WebhookKey, filter: DeliveryFilter): Promise<DeliveryPage> {
    await this.#find(key);
    return listDeliveries(this.#options.store.entries, key, filter);
  }

  /** Sends again from now on, with the circuit closed. What happened since it failed is not made up for. */
  resume(
    key: WebhookKey,
    record?: RecordOf<WebhookSubscription>,
  ): Promise<WebhookSubscription | 'duplicate'> {
    return this.#change(key, record, (subscription, now) => {
      const changed = resumed(subscription);
      return { changed, answer: subscriptionSummary(changed, now) };
    });
  }

  async rotateSecret(
    key: WebhookKey,
    overlapMs: number,
    record?: RecordOf<RotatedWebhookSecret>,
  ): Promise<RotatedWebhookSecret | 'duplicate'> {
    const { masterKey, randomBytes } = this.#options;
    await masterKey.claim();
    return this.#change(key, record, (subscription, now) => {
      const { secret, ...sealed } = mintSecret(masterKey, key, randomBytes);
      const changed = withSecret(subscription, sealed, { now, overlapMs });
      const { webhookId, secretFingerprint, previousSecretUntil } = subscriptionSummary(changed, now);
      return {
        changed,
        answer: { webhookId, secret, secretFingerprint, ...(previousSecretUntil && { previousSecretUntil }) },
      };
    });
  }

  /** A new delivery of the same event; one attempt where the subscription has failed. */
  async resend(
    key: WebhookKey,
    deliveryId: string,
    record?: RecordOf<WebhookDelivery>,
  ): Promise<WebhookDelivery | 'duplicate'> {
    const { store, now, randomBytes, wake } = this.#options;
    await this.#find(key);
    const found = await findDelivery(store.entries, key, deliveryId);
    if (!found) throw new OpenwopError('not_found');
    const at = now();
    const { last: _last, finishedAt: _finishedAt, ...event } = found;
    const delivery: Delivery = {
      ...event,
      deliveryId: newId('whd', at, randomBytes),
      createdAt: at,
      dueAt: at,
      attempts: 0,
      version: 0,
      resendOf: deliveryId,
    };
    const answer = deliverySummary(delivery, 'pending');
    const [result] = await store.commit([[pendingWrite(delivery), ...this.#recordWrites(record, answer)]]);
    if (!result?.won) return 'duplicate';
    wake(key);
    return answer;
  }

  async #register(
    tenant: string,
    wanted: RegisterWebhookRequest,
    record: RecordOf<void> | undefined,
  ): Promise<RegisterWebhookResponse | 'duplicate'> {
    const { store, masterKey, subscriptions } = this.#options;
    if ((await store.entries.count(WEBHOOK, tenant)) >= SUBSCRIPTIONS_MAX) {
      throw new OpenwopError('conflict', {
        message: `A tenant can have ${SUBSCRIPTIONS_MAX} subscriptions. Delete one that is no longer needed.`,
        details: { limit: SUBSCRIPTIONS_MAX },
      });
    }
    await masterKey.claim();
    const { secret, subscription } = this.#mint(tenant, wanted);
    const group = [subscriptionWrite(subscription), ...this.#recordWrites(record, undefined)];
    const [result] = await store.commit([group]);
    if (!result?.won) return 'duplicate';
    subscriptions.put(subscription);
    const { webhookId, secretFingerprint } = subscription;
    return { webhookId, secret, secretFingerprint };
  }

  #mint(
    tenant: string,
    { url, events, tags, durable }: RegisterWebhookRequest,
  ): { secret: string; subscription: Subscription } {
    const { masterKey, now, randomBytes } = this.#options;
    const createdAt = now();
    const key = { tenant, webhookId: newId('wh', createdAt, randomBytes) };
    const { secret, ...sealed } = mintSecret(masterKey, key, randomBytes);
    const subscription: Subscription = {
      ...key,
      url,
      events,
      tags: tags ?? null,
      durable: durable ?? false,
      ...sealed,
      state: 'active',
      health: HEALTHY,
      createdAt,
      version: 0,
    };
    return { secret, subscription };
  }

  async #change<T>(
    key: WebhookKey,
    record: RecordOf<T> | undefined,
    change: (subscription: Subscription, now: number) => { changed: Subscription; answer: T },
  ): Promise<T | 'duplicate'> {
    const { store, subscriptions, now, wake } = this.#options;
    for (;;) {
      const { changed, answer } = change(await this.#find(key), now());
      const [result] = await store.commit([
        [subscriptionWrite(changed), ...this.#recordWrites(record, answer)],
      ]);
      if (result?.won === false && result.reason === 'exists') return 'duplicate';
      if (!result?.won) continue;
      subscriptions.put(changed);
      wake(key);
      return answer;
    }
  }

  async #find(key: WebhookKey): Promise<Subscription> {
    const subscription = await this.#options.subscriptions.read(key);
    if (!subscription) throw new OpenwopError('subscription_not_found');
    return subscription;
  }

  #recordWrites<T>(record: RecordOf<T> | undefined, answer: T): Write[] {
    return record ? [{ kind: 'idempotency', record: record(answer), now: this.#options.now() }] : [];
  }
}
