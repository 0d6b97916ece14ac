/** Deliveries of one subscription, those of the newest run first, of one state or all. */
import type { DeliveryState, WebhookDelivery } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { DELIVERIES, type Delivery, deliveryView } from './delivery.ts';
import type { WebhookKey } from './webhook.ts';

const STATES = Object.keys(DELIVERIES) as DeliveryState[];

export interface DeliveryFilter {
  readonly state?: DeliveryState;
  /** The last delivery id of the page before. */
  readonly cursor?: string;
  readonly limit: number;
}

export async function listDeliveries(
  entries: Store['entries'],
  { tenant, webhookId }: WebhookKey,
  { state, cursor, limit }: DeliveryFilter,
): Promise<{ deliveries: WebhookDelivery[]; nextCursor?: string }> {
  const filter = { ref: webhookId, limit: limit + 1, ...(cursor !== undefined && { beforeId: cursor }) };
  const lists = (state ? [state] : STATES).map(async (each) => {
    const kind = DELIVERIES[each];
    const page = await entries.list(kind.kind, tenant, filter);
    return page.map((entry) => deliveryView(fromEntry(kind, entry), each));
  });
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
  id: string,
): Promise<Delivery | null> {
  for (const kind of Object.values(DELIVERIES)) {
    const entry = await entries.get({ kind: kind.kind, tenant, id });
    if (entry?.ref === webhookId) return fromEntry(kind, entry);
  }
  return null;
}

const newestFirst = (a: WebhookDelivery, b: WebhookDelivery): number =>
  a.deliveryId < b.deliveryId ? 1 : a.deliveryId > b.deliveryId ? -1 : 0;
