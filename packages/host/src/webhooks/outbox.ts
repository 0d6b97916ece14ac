/**
 * The webhook deliveries of events, written in the commit of the events.
 *
 * I1  An event and its deliveries are committed together or not at all: no crash loses a delivery.
 * I2  A replay delivers nothing: its events were delivered when they happened. The same holds for the past of a fork.
 * I3  A lane is woken after the commit, again and again, until it has seen what was written for it.
 */
import type { RunFacts } from '@gantry/engine';
import type { StoredEvent } from '@gantry/protocol';
import { creation } from '@gantry/resources';
import type { Write } from '@gantry/store';
import type { LaneKey } from '../deliveries/lanes.ts';
import type { Outbox } from '../runtime/runtime.ts';
import { DELIVERIES, type Delivery, deliveryIdOf, type EventSource } from './delivery.ts';
import type { Subscriptions } from './subscriptions.ts';

/** After this long a commit has happened or never will. */
const FORGET_AFTER_MS = 60_000;

interface Unseen {
  readonly key: LaneKey;
  /** Delivery id to the time it was made. */
  readonly written: Map<string, number>;
}

/** Whose events they are, and which subscriptions may want them. */
export interface Told {
  readonly tenant: string;
  readonly workspaceId: string;
  readonly source: EventSource;
  readonly tags: readonly string[];
}

export interface OutboxOptions {
  readonly subscriptions: Pick<Subscriptions, 'of'>;
  readonly now: () => number;
  readonly wake: (key: LaneKey) => void;
}

export class WebhookOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #unseen = new Map<string, Unseen>();
  /** Never goes back: a lane sends in this order. */
  #at = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  writes(facts: RunFacts, events: readonly StoredEvent[]): readonly Write[] {
    const { fork, owner, tags, runId } = facts;
    if (fork?.mode === 'replay') return [];
    const own = fork ? events.filter(({ sequence }) => sequence >= fork.fromSeq) : events;
    const workspaceId = owner.workspace ?? owner.tenant;
    return this.writesOf({ tenant: owner.tenant, workspaceId, source: { runId }, tags }, own);
  }

  /** For events of any source. */
  writesOf({ tenant, tags, ...told }: Told, events: readonly StoredEvent[]): readonly Write[] {
    const writes: Write[] = [];
    for (const matcher of this.#options.subscriptions.of(tenant, tags))
      for (const event of events)
        if (matcher.matches(event.type)) writes.push(this.#write(matcher, told, event));
    return writes;
  }

  committed(): void {
    for (const { key } of this.#unseen.values()) this.#options.wake(key);
  }

  /** The lane found these in the store. */
  seen({ ref: webhookId }: LaneKey, deliveries: readonly Delivery[], now: number): void {
    const unseen = this.#unseen.get(webhookId);
    if (!unseen) return;
    for (const { id } of deliveries) unseen.written.delete(id);
    for (const [id, at] of unseen.written) if (at <= now - FORGET_AFTER_MS) unseen.written.delete(id);
    if (unseen.written.size === 0) this.#unseen.delete(webhookId);
  }

  #write(
    { tenant, ref: webhookId }: LaneKey,
    told: Omit<Told, 'tenant' | 'tags'>,
    event: StoredEvent,
  ): Write {
    this.#at = Math.max(this.#at, this.#options.now());
    const at = this.#at;
    const named = { webhookId, ...told, sequence: event.sequence, type: event.type };
    const id = deliveryIdOf(named);
    const unseen = this.#unseen.get(webhookId) ?? { key: { tenant, ref: webhookId }, written: new Map() };
    unseen.written.set(id, at);
    this.#unseen.set(webhookId, unseen);
    const record = { ...named, createdAt: at, dueAt: at, attempts: 0 };
    return creation(DELIVERIES.pending, { tenant, id }, record, at);
  }
}
