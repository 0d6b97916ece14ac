/** Deliveries of one subscription, those of the newest run first, of one state or all. */
import type { DeliveryState, WebhookDelivery } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { DELIVERY_KINDS, type Delivery, deliveryKey, deliverySummary, toDelivery } from './delivery.ts';
import type { WebhookKey } from './subscription.ts';

const STATES = Object.keys(DELIVERY_KINDS) as DeliveryState[];

export interface DeliveryFilter {
  readonly state?: DeliveryState;
  /** The last delivery id of the page before. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface DeliveryPage {
  readonly deliveries: WebhookDelivery[];
  readonly nextCursor?: string;
}

export async function listDeliveries(
  entries: Store['entries'],
  { tenant, webhookId }: WebhookKey,
  { state, cursor, limit }: DeliveryFilter,
): Promise<DeliveryPage> {
  const filter = { ref: webhookId, limit: limit + 1, ...(cursor !== undefined && { beforeId: cursor }) };
  const lists = (state ? [state] : STATES).map(async (each) =>
    (await entries.list(DELIVERY_KINDS[each], tenant, filter)).map((entry) =>
      deliverySummary(toDelivery(entry), each),
    ),
  );
  const found = (await Promise.all(lists)).flat().sort(newestFirst);
  // One that finished between two of these reads is in both; the sort leaves its later state behind the other.
  const deliveries = found.filter(({ deliveryId }, i) => deliveryId !== found[i + 1]?.deliveryId);
  const page = deliveries.slice(0, limit);
  const last = page.at(-1);
  return { deliveries: page, ...(deliveries.length > limit && last && { nextCursor: last.deliveryId }) };
}

/** Whatever state it is in. */
export async function findDelivery(
  entries: Store['entries'],
  { tenant, webhookId }: WebhookKey,
  deliveryId: string,
): Promise<Delivery | null> {
  for (const state of STATES) {
    const entry = await entries.get(deliveryKey({ tenant, deliveryId }, state));
    if (entry?.ref === webhookId) return toDelivery(entry);
  }
  return null;
}

const newestFirst = (a: WebhookDelivery, b: WebhookDelivery): number =>
  a.deliveryId < b.deliveryId ? 1 : a.deliveryId > b.deliveryId ? -1 : 0;
