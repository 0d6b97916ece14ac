/**
 * The active subscriptions of every tenant, in memory: the outbox asks at each commit, without waiting.
 * What another process registers is heard of through the store, so its first events may go unnoticed here.
 */
import type { Entry, Store } from '@gantry/store';
import {
  type Subscription,
  toSubscription,
  WEBHOOK,
  type WebhookKey,
  webhookEntryKey,
} from './subscription.ts';

const PAGE = 500;

interface Matcher extends WebhookKey {
  matches(type: string): boolean;
  readonly tags: ReadonlySet<string> | null;
}

function toMatcher({ tenant, webhookId, events, tags }: Subscription): Matcher {
  const types = new Set(events);
  const prefixes = events.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1));
  return {
    tenant,
    webhookId,
    matches: (type) =>
      types.has(type) || types.has('*') || prefixes.some((prefix) => type.startsWith(prefix)),
    tags: tags && new Set(tags),
  };
}

export class Subscriptions {
  readonly #entries: Pick<Store['entries'], 'all' | 'get'>;
  #byTenant = new Map<string, Map<string, Matcher>>();
  /** A load that began before a change would bring back what it removed: it starts over. */
  #changes = 0;

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

  async read(key: WebhookKey): Promise<Subscription | null> {
    const entry = await this.#entries.get(webhookEntryKey(key));
    return entry && toSubscription(entry);
  }

  /** What was just committed. */
  put(subscription: Subscription): void {
    this.#changes++;
    if (subscription.state === 'active') add(this.#byTenant, subscription);
    else this.#byTenant.get(subscription.tenant)?.delete(subscription.webhookId);
  }

  remove({ tenant, webhookId }: WebhookKey): void {
    this.#changes++;
    this.#byTenant.get(tenant)?.delete(webhookId);
  }

  /** Those that want events of runs with these tags. */
  *of(tenant: string, tags: readonly string[]): Iterable<Matcher> {
    for (const matcher of this.#byTenant.get(tenant)?.values() ?? []) {
      if (matcher.tags === null || tags.some((tag) => matcher.tags?.has(tag))) yield matcher;
    }
  }

  *all(): Iterable<WebhookKey> {
    for (const matchers of this.#byTenant.values()) yield* matchers.values();
  }

  async #readAll(): Promise<Map<string, Map<string, Matcher>>> {
    const loaded = new Map<string, Map<string, Matcher>>();
    for (let after: Entry | null = null; ; ) {
      const page: Entry[] = await this.#entries.all(WEBHOOK, after, PAGE);
      for (const entry of page) {
        const subscription = toSubscription(entry);
        if (subscription.state === 'active') add(loaded, subscription);
      }
      if (page.length < PAGE) return loaded;
      after = page.at(-1) ?? null;
    }
  }
}

function add(byTenant: Map<string, Map<string, Matcher>>, subscription: Subscription): void {
  const { tenant, webhookId } = subscription;
  const matchers = byTenant.get(tenant) ?? new Map<string, Matcher>();
  byTenant.set(tenant, matchers.set(webhookId, toMatcher(subscription)));
}
