/** A webhook subscription as an entry of the store. */
import type { CircuitState, WebhookSubscription } from '@gantry/protocol';
import type { Entry, EntryKey, Write } from '@gantry/store';
import { circuitOf, HEALTHY, type Health, recentFailures } from './health.ts';

export const WEBHOOK = 'webhook';

/** Names a subscription, and the lane its deliveries wait in. */
export interface WebhookKey {
  readonly tenant: string;
  readonly webhookId: string;
}

/** The body of the entry. The secret is in it only as sealed text. */
export interface SubscriptionBody {
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[] | null;
  readonly durable: boolean;
  readonly secretSealed: string;
  readonly secretFingerprint: string;
  /** Signs beside the current one until then, sealed like it. */
  readonly previousSecret?: { readonly sealed: string; readonly until: number };
  /** `failed` takes no more deliveries but those asked for one by one, until it is resumed. */
  readonly state: 'active' | 'failed';
  readonly health: Health;
}

export interface Subscription extends WebhookKey, SubscriptionBody {
  readonly createdAt: number;
  readonly version: number;
}

export const webhookEntryKey = ({ tenant, webhookId }: WebhookKey): EntryKey => ({
  kind: WEBHOOK,
  tenant,
  id: webhookId,
});

/** What the secret is sealed for: it opens nowhere else. */
export const secretContext = ({ tenant, webhookId }: WebhookKey): string =>
  `${WEBHOOK}/${tenant}/${webhookId}`;

export function toSubscription({ tenant, id, createdAt, version, body }: Entry): Subscription {
  const parsed: SubscriptionBody = JSON.parse(body);
  return { ...parsed, tenant, webhookId: id, createdAt, version };
}

/** A new one with version 0, else a change of the version that was read. */
export function subscriptionWrite(subscription: Subscription): Write {
  const { tenant, webhookId, createdAt, version, ...body } = subscription;
  return {
    kind: 'putEntry',
    entry: {
      ...webhookEntryKey({ tenant, webhookId }),
      ref: null,
      dueAt: null,
      expiresAt: null,
      createdAt,
      body: JSON.stringify(body),
    },
    expectedVersion: version === 0 ? null : version,
  };
}

/** With a clean record: nothing is held back any longer. */
export const resumed = (subscription: Subscription): Subscription => ({
  ...subscription,
  state: 'active',
  health: HEALTHY,
});

/** The secret it replaces signs too for that long. An earlier one ends at once. */
export function withSecret(
  subscription: Subscription,
  fresh: Pick<Subscription, 'secretSealed' | 'secretFingerprint'>,
  overlap: { readonly now: number; readonly overlapMs: number },
): Subscription {
  const { previousSecret: _ended, ...kept } = subscription;
  const previousSecret = { sealed: subscription.secretSealed, until: overlap.now + overlap.overlapMs };
  return { ...kept, ...fresh, ...(overlap.overlapMs > 0 && { previousSecret }) };
}

/** What signs now, the current secret first; all of it sealed. */
export function sealedSecrets({ secretSealed, previousSecret }: Subscription, now: number): string[] {
  return previousSecret && now < previousSecret.until
    ? [secretSealed, previousSecret.sealed]
    : [secretSealed];
}

const isoTime = (at: number): string => new Date(at).toISOString();

export function subscriptionSummary(subscription: Subscription, now: number): WebhookSubscription {
  const { webhookId, url, events, tags, durable, secretFingerprint, previousSecret, state, health } =
    subscription;
  const circuit: CircuitState = circuitOf(health, now);
  return {
    webhookId,
    url,
    events: [...events],
    ...(tags && { tags: [...tags] }),
    durable,
    secretFingerprint,
    ...(previousSecret &&
      now < previousSecret.until && { previousSecretUntil: isoTime(previousSecret.until) }),
    state,
    circuit,
    ...(circuit === 'open' && { circuitOpenUntil: isoTime(health.openUntil ?? now) }),
    consecutiveFailures: health.consecutiveFailures,
    failuresLast7Days: recentFailures(health, now).length,
    createdAt: isoTime(subscription.createdAt),
  };
}
