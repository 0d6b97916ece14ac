/** What the host saw packs use, added up by version and day, so that it stays small. */
import type { PackReceipt } from '@gantry/protocol';
import type { Receipt } from '@gantry/sandbox';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import { bodyOf, putting } from './pack-record.ts';

const PACK_RECEIPT = 'pack-receipt';
const KEPT_MS = 90 * 86_400_000;
const FLUSH_MS = 500;
const WRITE_TRIES_MAX = 5;
const LISTED_MAX = 1_000;

export interface StepUse {
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  readonly used: Receipt;
}

type Counts = { [name: string]: number };
interface DayRecord {
  readonly name: string;
  readonly version: string;
  readonly day: string;
  steps: number;
  readonly primitives: Counts;
  readonly surfaces: Counts;
}

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

  /** Written soon; a crash can lose what the last half second added, never what a reader has seen. */
  note({ tenant, name, version, used }: StepUse): void {
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    const key = [tenant, name, version, day].join('\0');
    const record = this.#waiting.get(key)?.record ?? {
      name,
      version,
      day,
      steps: 0,
      primitives: {},
      surfaces: {},
    };
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
    const entries = await this.#options.store.entries.list(PACK_RECEIPT, tenant, {
      ref: name,
      limit: LISTED_MAX,
    });
    const byVersion = new Map<string, PackReceipt>();
    for (const record of entries.map((entry) => bodyOf<DayRecord>(entry))) {
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
    const key = { kind: PACK_RECEIPT, tenant, id: `${name}@${version}:${day}` };
    try {
      for (let tries = 0; tries < WRITE_TRIES_MAX; tries++) {
        const before = await store.entries.get(key);
        const body: DayRecord = before
          ? bodyOf(before)
          : { name, version, day, steps: 0, primitives: {}, surfaces: {} };
        add(body, record);
        const write = putting({ key, ref: name, body, before, now: now(), expiresAt: now() + KEPT_MS });
        const [result] = await store.commit([[write]]);
        if (result?.won) return;
      }
      log.warn({ pack: name, version }, 'a receipt could not be written');
    } catch (error) {
      log.warn({ err: error, pack: name, version }, 'a receipt could not be written');
    }
  }
}

type Sum = Pick<DayRecord, 'steps' | 'primitives' | 'surfaces'>;

function add(sum: Sum, more: Sum): void {
  sum.steps += more.steps;
  for (const part of ['primitives', 'surfaces'] as const)
    for (const [name, count] of Object.entries(more[part])) sum[part][name] = (sum[part][name] ?? 0) + count;
}

const countsOf = (names: readonly string[]): Counts => Object.fromEntries(names.map((name) => [name, 1]));
