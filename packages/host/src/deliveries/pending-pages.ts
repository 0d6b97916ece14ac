/** For each lane, the pending deliveries that were read and not yet worked on. */
import { listRecords, type RecordKind, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { type Attempts, isDue } from './delivery.ts';
import { type LaneKey, laneName, type Next } from './lanes.ts';

/** The number of deliveries that a lane reads. If all of them wait for a later attempt, those behind them wait too. */
const PAGE = 256;

export const AGAIN: Next = { next: 'again' };
const IDLE: Next = { next: 'idle' };
export const sleep = (until: number): Next => ({ next: 'sleep', until });

export const sleepUntilDue = (deliveries: readonly { readonly record: Attempts }[], now: number): Next =>
  sleep(Math.min(...deliveries.map(({ record }) => record.dueAt ?? now)));

export interface PendingPagesOptions<R extends Attempts> {
  readonly entries: Pick<Store['entries'], 'list'>;
  readonly kind: RecordKind<R>;
  readonly now: () => number;
  /** Called with deliveries that were read from the store. */
  readonly onRead?: (key: LaneKey, page: readonly Stored<R>[]) => void;
}

export class PendingPages<R extends Attempts> {
  readonly #options: PendingPagesOptions<R>;
  readonly #pages = new Map<string, readonly Stored<R>[]>();

  constructor(options: PendingPagesOptions<R>) {
    this.#options = options;
  }

  /** One turn of a lane: `work` gets the pending deliveries, unless there are none. */
  async turn(key: LaneKey, work: (page: readonly Stored<R>[]) => Promise<Next>): Promise<Next> {
    const page = await this.#read(key);
    const next = page.length === 0 ? IDLE : await work(page);
    if (next.next !== 'again') this.forget(key);
    return next;
  }

  /** From memory while something there is due. */
  async #read(key: LaneKey): Promise<readonly Stored<R>[]> {
    const { entries, kind, now, onRead } = this.#options;
    const read = this.#pages.get(laneName(key));
    if (read?.some((delivery) => isDue(delivery, now()))) return read;
    const filter = { ref: key.ref, oldestFirst: true, limit: PAGE } as const;
    const found = await listRecords(entries, kind, key.tenant, filter);
    // Ids of some kinds do not sort by time; deliveries are sent in the order in which they were created.
    const page = found.sort((a, b) => a.record.createdAt - b.record.createdAt);
    onRead?.(key, page);
    this.#pages.set(laneName(key), page);
    return page;
  }

  /** Works on the first delivery that is due, or sleeps until one is. */
  async workOnFirst(
    key: LaneKey,
    deliveries: readonly Stored<R>[],
    work: (first: Stored<R>) => Promise<Next>,
  ): Promise<Next> {
    const now = this.#options.now();
    const first = deliveries.find((delivery) => isDue(delivery, now));
    if (!first) return sleepUntilDue(deliveries, now);
    const page = this.#pages.get(laneName(key)) ?? [];
    this.#pages.set(
      laneName(key),
      page.filter((each) => each !== first),
    );
    return work(first);
  }

  forget(key: LaneKey): void {
    this.#pages.delete(laneName(key));
  }
}
