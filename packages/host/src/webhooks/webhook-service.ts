/** The operations of callers on webhook subscriptions and their deliveries. */
import type { Egress, EgressReason } from '@gantry/egress';
import {
  OpenwopError,
  type RegisterWebhookRequest,
  type RegisterWebhookResponse,
  type WebhookDelivery,
  type webhooksWire,
} from '@gantry/protocol';
import { type Caller, ResourceService } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { findDelivery } from '../deliveries/delivery-list.ts';
import type { LaneKey } from '../deliveries/lanes.ts';
import type { Parts } from '../parts.ts';
import { newSecret, type SecretOptions } from '../signing-secret.ts';
import { DELIVERIES, deliveryView } from './delivery.ts';
import { checkEvents } from './event-types.ts';
import {
  namesOf,
  type WebhookReads,
  type WebhookRecord,
  type WebhookTerms,
  webhookOf,
  webhooks,
} from './webhook.ts';

/** Says nothing about the address itself: the receiver may be up when there is something to deliver. */
const PASSING: ReadonlySet<EgressReason> = new Set(['resolve_failed', 'timeout']);

export interface WebhookServiceOptions extends SecretOptions, Pick<Parts, 'changes' | 'now'> {
  readonly store: Pick<Store, 'entries'>;
  readonly egress: Pick<Egress, 'check'>;
  /** Called after a change was committed. */
  readonly onChanged: (key: LaneKey) => Promise<void>;
}

export class WebhookService extends ResourceService<
  typeof webhooksWire,
  WebhookRecord,
  WebhookTerms,
  WebhookReads
> {
  readonly #options: WebhookServiceOptions;

  constructor(options: WebhookServiceOptions) {
    const { onChanged, store } = options;
    const { entries } = store;
    super(webhooks, {
      ...options,
      entries,
      services: { ...options, entries },
      onChanged: (tenant, ref) => onChanged({ tenant, ref }),
    });
    this.#options = options;
  }

  /** Refuses a URL that no subscription may have. */
  async checkUrl(tenant: string, url: string): Promise<void> {
    const problem = await this.#options.egress.check(url, { tenant });
    if (!problem || PASSING.has(problem.reason)) return;
    const { message, reason } = problem;
    throw new OpenwopError('webhook_url_rejected', { message, details: { reason } });
  }

  /** Only this answer shows the secret: a repeat is refused. */
  async register(
    caller: Caller,
    wanted: RegisterWebhookRequest,
    { mayLink }: Pick<WebhookTerms, 'mayLink'> = { mayLink: false },
  ): Promise<RegisterWebhookResponse> {
    checkEvents(wanted.events);
    const { tenant } = caller;
    const made = await this.#options.changes.run(caller, async (change) => {
      await this.checkUrl(tenant, wanted.url);
      const secret = newSecret(this.#options);
      const { id, record, createdAt } = change.create(webhooks, webhookOf(wanted, { secret, mayLink }));
      change.answerOnce(REGISTERED_ONCE);
      return {
        ...namesOf(id, record.events),
        secret,
        secretFingerprint: record.secretFingerprint,
        url: record.url,
        createdAt: new Date(createdAt).toISOString(),
      };
    });
    await this.#options.onChanged({ tenant, ref: made.webhookId });
    return made;
  }

  /** A new delivery of the same event; one attempt where the subscription has failed. */
  async resend(caller: Caller, webhookId: string, deliveryId: string): Promise<WebhookDelivery> {
    const { store, changes, onChanged } = this.#options;
    const key = { tenant: caller.tenant, ref: webhookId };
    const answer = await changes.run(caller, async (change) => {
      await change.get(webhooks, webhookId);
      const found = await findDelivery(store.entries, DELIVERIES, key, deliveryId);
      if (!found) throw new OpenwopError('not_found');
      const { last: _last, finishedAt: _finishedAt, ...event } = found.record;
      const at = { createdAt: change.now, dueAt: change.now, attempts: 0 };
      const fresh = change.create(DELIVERIES.pending, { ...event, ...at, resendOf: deliveryId });
      return deliveryView(fresh, 'pending');
    });
    await onChanged(key);
    return answer;
  }
}

/** A repeat must not register twice, and the answer with the first secret is not recorded. */
const REGISTERED_ONCE = new OpenwopError('conflict', {
  message:
    'This request already made a subscription, whose secret was shown once. Delete it and register again to get a new one.',
});
