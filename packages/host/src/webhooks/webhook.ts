/** Webhook subscriptions as a resource. The secret is in the record only as sealed text. */
import { hash } from 'node:crypto';
import {
  type CircuitState,
  OpenwopError,
  type RegisterWebhookRequest,
  WEBHOOKS_PER_TENANT_MAX,
  webhooksWire,
} from '@gantry/protocol';
import { resource, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { listDeliveries } from '../deliveries/delivery-list.ts';
import type { LaneKey } from '../deliveries/lanes.ts';
import type { MasterKey } from '../master-key.ts';
import { mintSecret, openSecret, type SigningSecret } from '../signing-secret.ts';
import { DELIVERIES, deliveryView } from './delivery.ts';
import { circuitOf, HEALTHY, type Health, recentFailures } from './health.ts';

const FINGERPRINT_LENGTH = 8;
const DELIVERIES_LISTED = 50;
const OVERLAP_SECONDS = 86_400;

/** Names a subscription. */
export interface WebhookKey {
  readonly tenant: string;
  readonly webhookId: string;
}

/** Where its deliveries wait. */
export const laneOf = ({ tenant, webhookId }: WebhookKey): LaneKey => ({ tenant, ref: webhookId });

type SealedSecret = Pick<SigningSecret, 'secretSealed' | 'secretFingerprint'>;

/** What a subscription is made with beside the request. */
export interface WebhookTerms extends SealedSecret {
  /** Whoever registers it may make links for people. */
  readonly mayLink: boolean;
}

/** Named by itself: a subscription to everything is for those who count or store events. */
const LINKED_EVENT = 'interrupt.requested';

export interface WebhookRecord extends SealedSecret {
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[] | null;
  readonly durable: boolean;
  /** Interrupts come with links for the people whom they name. */
  readonly interruptLinks?: true;
  /** Signs beside the current one until then, sealed like it. */
  readonly previousSecret?: { readonly sealed: string; readonly until: number };
  /** `failed` takes no more deliveries but those asked for one by one, until it is resumed. */
  readonly state: 'active' | 'failed';
  readonly health: Health;
}

export type Webhook = Stored<WebhookRecord>;

/** What it needs of the host. */
export interface WebhookReads {
  readonly entries: Store['entries'];
  readonly masterKey: MasterKey;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly now: () => number;
}

export function webhookOf(
  { url, events, tags, durable = false }: RegisterWebhookRequest,
  { secretSealed, secretFingerprint, mayLink }: WebhookTerms,
): WebhookRecord {
  return {
    url,
    events,
    tags: tags ?? null,
    durable,
    ...(mayLink && events.includes(LINKED_EVENT) && { interruptLinks: true as const }),
    secretSealed,
    secretFingerprint,
    state: 'active',
    health: HEALTHY,
  };
}

export const webhooks = resource<typeof webhooksWire, WebhookRecord, WebhookTerms, WebhookReads>(
  webhooksWire,
  {
    kind: 'webhook',
    idPrefix: 'wh',
    missing: 'subscription_not_found',
    max: WEBHOOKS_PER_TENANT_MAX,
    create: webhookOf,
    verbs: {
      /** With a clean record: nothing is held back any longer. What happened since it failed is not made up for. */
      resume: (webhook) => ({ ...webhook, state: 'active', health: HEALTHY }),
    },
    acts: {
      /** The old secret signs too for a while. */
      async 'rotate-secret'(before, { overlapSeconds = OVERLAP_SECONDS }, change, services) {
        const { tenant, id: webhookId } = before;
        const { secret, ...sealed } = mintWebhookSecret(services, tenant, webhookId);
        const overlap = { now: change.now, overlapMs: overlapSeconds * 1_000 };
        const after = change.replace(before, withSecret(before.record, sealed, overlap));
        change.answerOnce(ROTATED_ONCE);
        const { secretFingerprint, previousSecretUntil: until } = viewOf(after, change.now);
        return { webhookId, secret, secretFingerprint, ...(until && { previousSecretUntil: until }) };
      },
    },
    reads: {
      deliveries: (_, { limit = DELIVERIES_LISTED, ...filter }, { stored: { tenant, id }, services }) =>
        listDeliveries(services.entries, DELIVERIES, { tenant, ref: id }, { ...filter, limit }, deliveryView),
    },
    show: (webhook, { now }) => viewOf(webhook, now()),
  },
);

/** What the secret is sealed for: it opens nowhere else. */
export const secretContext = (tenant: string, webhookId: string): string =>
  `${webhooks.kind}/${tenant}/${webhookId}`;

export const mintWebhookSecret = (
  options: Pick<WebhookReads, 'masterKey' | 'randomBytes'>,
  tenant: string,
  webhookId: string,
): SigningSecret =>
  mintSecret(options, secretContext(tenant, webhookId), (secret) =>
    hash('sha256', secret, 'hex').slice(0, FINGERPRINT_LENGTH),
  );

const ROTATED_ONCE = new OpenwopError('conflict', {
  message: 'This request already made a secret, which was shown once. Rotate it again to get a new one.',
});

/** The secret that is replaced signs too for `overlapMs`. An earlier one ends at once. */
export function withSecret(
  webhook: WebhookRecord,
  { secretSealed, secretFingerprint }: SealedSecret,
  { now, overlapMs }: { readonly now: number; readonly overlapMs: number },
): WebhookRecord {
  const { previousSecret: _ended, ...kept } = webhook;
  const previousSecret = { sealed: webhook.secretSealed, until: now + overlapMs };
  return { ...kept, secretSealed, secretFingerprint, ...(overlapMs > 0 && { previousSecret }) };
}

/** What signs now, the current secret first. */
export function openSecrets(masterKey: MasterKey, { tenant, id, record }: Webhook, now: number): string[] {
  const { secretSealed, previousSecret } = record;
  const signing = previousSecret && now < previousSecret.until ? [previousSecret.sealed] : [];
  return [secretSealed, ...signing].map((sealed) => openSecret(masterKey, sealed, secretContext(tenant, id)));
}

const isoTime = (at: number): string => new Date(at).toISOString();

/** As the protocol and other clients call them. */
export const namesOf = (id: string, events: readonly string[]) => ({
  webhookId: id,
  subscriptionId: id,
  eventTypes: [...events],
});

export function viewOf({ id, createdAt, record }: Webhook, now: number) {
  const { url, events, tags, durable, interruptLinks, secretFingerprint, previousSecret, state, health } =
    record;
  const circuit: CircuitState = circuitOf(health, now);
  return {
    ...namesOf(id, events),
    url,
    events: [...events],
    ...(tags && { tags: [...tags] }),
    durable,
    ...(interruptLinks && { interruptLinks }),
    secretFingerprint,
    ...(previousSecret &&
      now < previousSecret.until && { previousSecretUntil: isoTime(previousSecret.until) }),
    state,
    circuit,
    ...(circuit === 'open' && { circuitOpenUntil: isoTime(health.openUntil ?? now) }),
    consecutiveFailures: health.consecutiveFailures,
    failuresLast7Days: recentFailures(health, now).length,
    createdAt: isoTime(createdAt),
  };
}
