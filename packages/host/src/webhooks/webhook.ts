/** Webhook subscriptions as a resource. The secret is in the record only as sealed text. */
import { hash } from 'node:crypto';
import {
  type CircuitState,
  isoTime,
  OpenwopError,
  type RegisterWebhookRequest,
  WEBHOOKS_PER_TENANT_MAX,
  webhooksWire,
} from '@gantry/protocol';
import { resource, type Secret, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { listDeliveries } from '../deliveries/delivery-list.ts';
import type { MasterKey } from '../master-key.ts';
import { newSecret, type SecretOptions, secretOf } from '../signing-secret.ts';
import { DELIVERIES, deliveryView } from './delivery.ts';
import { circuitOf, HEALTHY, type Health, recentFailures } from './health.ts';

const FINGERPRINT_LENGTH = 8;
const DELIVERIES_LISTED = 50;
const OVERLAP_SECONDS = 86_400;

/** What a subscription is made with beside the request. */
export interface WebhookTerms {
  readonly secret: string;
  /** Whoever registers it may make links for people. */
  readonly mayLink: boolean;
}

/** Only when it is named: a subscription to all events gets no links. */
const LINKED_EVENT = 'interrupt.requested';

export interface WebhookRecord {
  readonly secret: Secret;
  readonly secretFingerprint: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[] | null;
  readonly durable: boolean;
  /** Interrupts come with links for the people whom they name. */
  readonly interruptLinks?: true;
  /** Those that sign too: a list of `PreviousSecret`, newest first. */
  readonly previousSecrets?: Secret;
  /** When the newest of them ends. */
  readonly previousSecretsUntil?: number;
  /** `failed` takes no more deliveries but those asked for one by one, until it is resumed. */
  readonly state: 'active' | 'failed';
  readonly health: Health;
}

interface PreviousSecret {
  readonly secret: string;
  readonly until: number;
}

export type Webhook = Stored<WebhookRecord>;

/** Services of the host. */
export interface WebhookReads extends SecretOptions {
  readonly entries: Store['entries'];
  readonly now: () => number;
}

export function webhookOf(
  { url, events, tags, durable = false }: RegisterWebhookRequest,
  { secret, mayLink }: WebhookTerms,
): WebhookRecord {
  return {
    url,
    events,
    tags: tags ?? null,
    durable,
    ...(mayLink && events.includes(LINKED_EVENT) && { interruptLinks: true as const }),
    secret,
    secretFingerprint: fingerprintOf(secret),
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
    secret: ['secret', 'previousSecrets'],
    create: webhookOf,
    verbs: {
      /** With a closed circuit. Events since it failed are not delivered. */
      resume: (webhook) => ({ ...webhook, state: 'active', health: HEALTHY }),
    },
    acts: {
      async 'rotate-secret'(before, { overlapSeconds = OVERLAP_SECONDS }, change, services) {
        const { previousSecrets: _ended, previousSecretsUntil: _over, ...kept } = before.record;
        const secret = newSecret(services);
        const secretFingerprint = fingerprintOf(secret);
        const previousSecretsUntil = change.now + overlapSeconds * 1_000;
        const previous = overlapSeconds > 0 && {
          previousSecrets: JSON.stringify(
            stillSigning(services.masterKey, before, change.now, previousSecretsUntil),
          ),
          previousSecretsUntil,
        };
        change.replace(before, { ...kept, secret, secretFingerprint, ...previous });
        change.answerOnce(ROTATED_ONCE);
        const until = previous && { previousSecretUntil: isoTime(previousSecretsUntil) };
        return { webhookId: before.id, secret, secretFingerprint, ...until };
      },
    },
    reads: {
      deliveries: (_, { limit = DELIVERIES_LISTED, ...filter }, { stored: { tenant, id }, services }) =>
        listDeliveries(services.entries, DELIVERIES, { tenant, ref: id }, { ...filter, limit }, deliveryView),
    },
    show: (webhook, { now }) => viewOf(webhook, now()),
  },
);

const fingerprintOf = (secret: string): string => hash('sha256', secret, 'hex').slice(0, FINGERPRINT_LENGTH);

const ROTATED_ONCE = new OpenwopError('conflict', {
  message: 'This request already made a secret, which was shown once. Rotate it again to get a new one.',
});

/** The secrets that sign now, the current one first. */
export const openSecrets = (masterKey: MasterKey, webhook: Webhook, now: number): string[] => [
  secretOf(masterKey, webhook, 'secret'),
  ...previousSecrets(masterKey, webhook, now).map(({ secret }) => secret),
];

function previousSecrets(masterKey: MasterKey, webhook: Webhook, now: number): readonly PreviousSecret[] {
  if (now >= (webhook.record.previousSecretsUntil ?? 0)) return [];
  const all: readonly PreviousSecret[] = JSON.parse(secretOf(masterKey, webhook, 'previousSecrets'));
  return all.filter(({ until }) => now < until);
}

const PREVIOUS_MAX = 4;

/**
 * The secrets that sign beside a new one. When the answers of rotations are lost, the receiver has the oldest: of too
 * many, one between it and the newest goes.
 */
function stillSigning(masterKey: MasterKey, webhook: Webhook, now: number, until: number): PreviousSecret[] {
  const replaced = { secret: secretOf(masterKey, webhook, 'secret'), until };
  const older = previousSecrets(masterKey, webhook, now).map((each) => ({
    ...each,
    until: Math.min(each.until, until),
  }));
  return [replaced, ...(older.length < PREVIOUS_MAX ? older : older.toSpliced(-2, 1))];
}

/** As the protocol and other clients call them. */
export const namesOf = (id: string, events: readonly string[]) => ({
  webhookId: id,
  subscriptionId: id,
  eventTypes: [...events],
});

export function viewOf({ id, createdAt, record }: Webhook, now: number) {
  const {
    url,
    events,
    tags,
    durable,
    interruptLinks,
    secretFingerprint,
    previousSecretsUntil,
    state,
    health,
  } = record;
  const circuit: CircuitState = circuitOf(health, now);
  return {
    ...namesOf(id, events),
    url,
    events: [...events],
    ...(tags && { tags: [...tags] }),
    durable,
    ...(interruptLinks && { interruptLinks }),
    secretFingerprint,
    ...(previousSecretsUntil !== undefined &&
      now < previousSecretsUntil && { previousSecretUntil: isoTime(previousSecretsUntil) }),
    state,
    circuit,
    ...(circuit === 'open' && { circuitOpenUntil: isoTime(health.openUntil ?? now) }),
    consecutiveFailures: health.consecutiveFailures,
    failuresLast7Days: recentFailures(health, now).length,
    createdAt: isoTime(createdAt),
  };
}
