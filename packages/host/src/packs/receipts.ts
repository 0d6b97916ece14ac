/** The observed use of permissions and surfaces by packs, summed by version and day to keep it small. */
import type { PackReceipt } from '@gantry/protocol';
import { listRecords, putting, type RecordKind, readRecord } from '@gantry/resources';
import type { Receipt } from '@gantry/sandbox';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';

const KEPT_MS = 90 * 86_400_000;
const FLUSH_MS = 500;
const WRITE_TRIES_MAX = 5;
const LISTED_MAX = 1_000;

type Counts = { [name: string]: number };
interface DayRecord {
  readonly name: string;
  readonly version: string;
  readonly day: string;
  steps: number;
  readonly primitives: Counts;
  readonly surfaces: Counts;
}

export const receipts: RecordKind<DayRecord> = {
  kind: 'pack-receipt',
  idPrefix: 'pack-receipt',
  ref: ({ name }) => name,
  expiresAt: (_, now) => now + KEPT_MS,
};

export interface ReceiptsOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly now: () => number;
  readonly log: Logger;
}

export class Receipts {
  readonly #options: ReceiptsOptions;
  #waiting = new Map<string, { tenant: string; record: DayRecord }>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /** Written soon; a crash can lose the last half second, but never a value that a reader has seen. */
  note(tenant: string, { name, version }: Pick<DayRecord, 'name' | 'version'>, used: Receipt): void {
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    const key = [tenant, name, version, day].join('\0');
    const record = this.#waiting.get(key)?.record ?? emptyDay({ name, version, day });
    add(record, { steps: 1, primitives: countsOf(used.primitives), surfaces: countsOf(used.surfaces) });
    this.#waiting.set(key, { tenant, record });
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#flushing = this.#flushing.then(async () => {
      for (const { tenant, record } of waiting.values()) await this.#write(tenant, record);
    });
    return this.#flushing;
  }

  /** By version, newest day last. */
  async of(tenant: string, name: string): Promise<PackReceipt[]> {
    await this.flush();
    const filter = { ref: name, limit: LISTED_MAX };
    const byVersion = new Map<string, PackReceipt>();
    for (const { record } of await listRecords(this.#options.store.entries, receipts, tenant, filter)) {
      const { version, day } = record;
      const sum = byVersion.get(version) ?? { version, since: day, steps: 0, primitives: {}, surfaces: {} };
      add(sum, record);
      byVersion.set(version, { ...sum, since: day < sum.since ? day : sum.since });
    }
    return [...byVersion.values()];
  }

  async #write(tenant: string, record: DayRecord): Promise<void> {
    const { store, now, log } = this.#options;
    const { name, version, day } = record;
    const id = `${name}@${version}:${day}`;
    try {
      for (let tries = 0; tries < WRITE_TRIES_MAX; tries++) {
        const before = await readRecord(store.entries, receipts, tenant, id);
        const sum = before?.record ?? emptyDay(record);
        add(sum, record);
        const write = putting(receipts, { tenant, id }, sum, { before, now: now() });
        const [result] = await store.commit([[write]]);
        if (result?.won) return;
      }
      log.warn({ pack: name, version }, 'a receipt could not be written');
    } catch (error) {
      log.warn({ err: error, pack: name, version }, 'a receipt could not be written');
    }
  }
}

const emptyDay = ({ name, version, day }: Pick<DayRecord, 'name' | 'version' | 'day'>): DayRecord => ({
  name,
  version,
  day,
  steps: 0,
  primitives: {},
  surfaces: {},
});

type Sum = Pick<DayRecord, 'steps' | 'primitives' | 'surfaces'>;

function add(sum: Sum, more: Sum): void {
  sum.steps += more.steps;
  for (const part of ['primitives', 'surfaces'] as const)
    for (const [name, count] of Object.entries(more[part])) sum[part][name] = (sum[part][name] ?? 0) + count;
}

const countsOf = (names: readonly string[]): Counts => Object.fromEntries(names.map((name) => [name, 1]));
