/** Deliveries of one lane, newest id first, of one state or all. */
import type { DeliveryState } from '@gantry/protocol';
import { fromEntry, listRecords, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { Attempts, DeliveryKinds } from './delivery.ts';
import type { LaneKey } from './lanes.ts';

export interface DeliveryFilter<S extends DeliveryState> {
  readonly state?: S;
  /** The last delivery id of the previous page. */
  readonly cursor?: string;
  readonly limit: number;
}

export async function listDeliveries<R extends Attempts, S extends DeliveryState, V>(
  entries: Pick<Store['entries'], 'list'>,
  kinds: DeliveryKinds<R, S>,
  { tenant, ref }: LaneKey,
  { state, cursor, limit }: DeliveryFilter<S>,
  view: (delivery: Stored<R>, state: S) => V & { readonly deliveryId: string },
) {
  const filter = { ref, limit: limit + 1, ...(cursor !== undefined && { beforeId: cursor }) };
  const states = Object.keys(kinds) as S[];
  const lists = (state ? [state] : states).map(async (each) => {
    const page = await listRecords(entries, kinds[each], tenant, filter);
    return page.map((delivery) => view(delivery, each));
  });
  const found = (await Promise.all(lists)).flat().sort(newestFirst);
  // A delivery that finished between two of these reads is in both; the sort puts its later state last.
  const deliveries = found.filter(({ deliveryId }, i) => deliveryId !== found[i + 1]?.deliveryId);
  const page = deliveries.slice(0, limit);
  const last = page.at(-1);
  return { deliveries: page, ...(deliveries.length > limit && last && { nextCursor: last.deliveryId }) };
}

/** Finds a delivery in any state. */
export async function findDelivery<R extends Attempts>(
  entries: Pick<Store['entries'], 'get'>,
  kinds: Readonly<Record<string, DeliveryKinds<R>['pending']>>,
  { tenant, ref }: LaneKey,
  id: string,
): Promise<Stored<R> | null> {
  for (const kind of Object.values(kinds)) {
    const entry = await entries.get({ kind: kind.kind, tenant, id });
    if (entry?.ref === ref) return fromEntry(kind, entry);
  }
  return null;
}

type Named = { readonly deliveryId: string };

const newestFirst = (a: Named, b: Named): number =>
  a.deliveryId < b.deliveryId ? 1 : a.deliveryId > b.deliveryId ? -1 : 0;
