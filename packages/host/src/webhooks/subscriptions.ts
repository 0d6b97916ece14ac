/**
 * The active subscriptions of every tenant, in memory: the outbox asks at each commit, without waiting.
 * Registrations of other processes are read from the store after a notification: events before that are not delivered.
 */
import { HEARTBEAT_EVENTS } from '@gantry/protocol';
import { everyRecord, readRecord } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { LaneKey } from '../deliveries/lanes.ts';
import { type Webhook, webhooks } from './webhook.ts';

const HEARTBEAT_TYPES: ReadonlySet<string> = new Set(HEARTBEAT_EVENTS);

interface Matcher extends LaneKey {
  matches(type: string): boolean;
  readonly tags: ReadonlySet<string> | null;
}

function toMatcher({ tenant, id, record: { events, tags } }: Webhook): Matcher {
  const types = new Set(events);
  const prefixes = events.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1));
  return {
    tenant,
    ref: id,
    // `*` is every event of runs: a receiver that takes it expects a run
    matches: (type) =>
      types.has(type) ||
      (types.has('*') && !HEARTBEAT_TYPES.has(type)) ||
      prefixes.some((prefix) => type.startsWith(prefix)),
    tags: tags && new Set(tags),
  };
}

export class Subscriptions {
  readonly #entries: Pick<Store['entries'], 'all' | 'get'>;
  #byTenant = new Map<string, Map<string, Matcher>>();
  /** A load that began before a change would bring back what it removed: it starts over. */
  #changes = 0;
  #refreshed = Promise.resolve();

  constructor(entries: Pick<Store['entries'], 'all' | 'get'>) {
    this.#entries = entries;
  }

  async load(): Promise<void> {
    for (;;) {
      const before = this.#changes;
      const loaded = await this.#readAll();
      if (before !== this.#changes) continue;
      this.#byTenant = loaded;
      return;
    }
  }

  read({ tenant, ref }: LaneKey): Promise<Webhook | null> {
    return readRecord(this.#entries, webhooks, tenant, ref);
  }

  /** It has changed in the store. One after another: what was read first must not be put last. */
  refresh(key: LaneKey): Promise<void> {
    const refreshed = this.#refreshed.then(async () => {
      const webhook = await this.read(key);
      if (webhook) this.put(webhook);
      else this.remove(key);
    });
    this.#refreshed = refreshed.catch(() => {});
    return refreshed;
  }

  /** What was just committed. */
  put(webhook: Webhook): void {
    const { tenant, id, record } = webhook;
    this.#changes++;
    if (record.state === 'active') add(this.#byTenant, webhook);
    else this.#byTenant.get(tenant)?.delete(id);
  }

  remove({ tenant, ref }: LaneKey): void {
    this.#changes++;
    this.#byTenant.get(tenant)?.delete(ref);
  }

  /** Those that want events of runs with these tags. */
  *of(tenant: string, tags: readonly string[]): Iterable<Matcher> {
    for (const matcher of this.#byTenant.get(tenant)?.values() ?? []) {
      if (matcher.tags === null || tags.some((tag) => matcher.tags?.has(tag))) yield matcher;
    }
  }

  *all(): Iterable<LaneKey> {
    for (const matchers of this.#byTenant.values()) yield* matchers.values();
  }

  async #readAll(): Promise<Map<string, Map<string, Matcher>>> {
    const loaded = new Map<string, Map<string, Matcher>>();
    for await (const webhook of everyRecord(this.#entries, webhooks))
      if (webhook.record.state === 'active') add(loaded, webhook);
    return loaded;
  }
}

function add(byTenant: Map<string, Map<string, Matcher>>, webhook: Webhook): void {
  const matchers = byTenant.get(webhook.tenant) ?? new Map<string, Matcher>();
  byTenant.set(webhook.tenant, matchers.set(webhook.id, toMatcher(webhook)));
}
