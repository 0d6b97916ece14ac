/**
 * Listens to the topics of the subscriptions that are active, in every process.
 *
 * I1  What is listened to is derived from what is stored: compared at the start, and after each change here or in
 *     another process.
 * I2  Each message asks for its subscription again. One that is paused, gone or about another topic by now takes
 *     nothing: the message stays in its topic.
 */
import type { Store } from '@gantry/store';
import type { QueueSubscription as Listening, QueueDelivery, QueuePort } from '@gantry/surfaces';
import type { Logger } from 'pino';
import {
  type QueueSubscription,
  readSubscription,
  TRIGGER,
  TRIGGER_LISTENER,
  type TriggerKey,
} from '../subscription.ts';
import { placeOf } from './place.ts';

const PAGE = 256;
const RETRY_MS = 1_000;

export interface QueueSourceOptions {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly queue: Pick<QueuePort, 'subscribe'>;
  /** Rejects when the message is not taken. */
  readonly take: (
    subscription: QueueSubscription,
    message: QueueDelivery,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly log: Logger;
}

interface Listener {
  readonly place: string;
  readonly listening: Listening;
}

export class QueueSource {
  readonly #options: QueueSourceOptions;
  readonly #listeners = new Map<string, Listener>();
  /** Listeners that let their last messages end. */
  readonly #closing = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  #pass: Promise<void> | undefined;
  #asked = false;
  #retry: NodeJS.Timeout | undefined;
  #stopWatching: (() => Promise<void>) | undefined;

  constructor(options: QueueSourceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopWatching = await this.#options.store.watch(({ missed, kinds }) => {
      if (missed || kinds.includes(TRIGGER) || kinds.includes(TRIGGER_LISTENER)) void this.refresh();
    });
    await this.refresh();
  }

  /** I1. One pass at a time; what changes meanwhile is seen by the next. Never rejects. */
  async refresh(): Promise<void> {
    // The start looks at everything: until then no run can begin
    if (!this.#stopWatching) return;
    this.#asked = true;
    this.#pass ??= this.#passes();
    return this.#pass;
  }

  /** Resolves when no message is under way. */
  async stop(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#retry);
    await this.#stopWatching?.();
    await this.#pass;
    for (const id of this.#listeners.keys()) this.#end(id);
    await Promise.all(this.#closing);
  }

  async #passes(): Promise<void> {
    while (this.#asked && !this.#ending.signal.aborted) {
      this.#asked = false;
      try {
        this.#compare(await this.#active());
      } catch (error) {
        this.#options.log.warn({ err: error }, 'subscriptions to queues could not be read; trying again');
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => void this.refresh(), RETRY_MS).unref();
      }
    }
    // In the same turn as the last look at `#asked`, so that nothing is asked unheard
    this.#pass = undefined;
  }

  async #active(): Promise<QueueSubscription[]> {
    const { entries } = this.#options.store;
    const active: QueueSubscription[] = [];
    for (let page = await entries.all(TRIGGER_LISTENER, null, PAGE); ; ) {
      const read = page.map(({ tenant, id }) => this.#read({ tenant, subscriptionId: id }));
      active.push(...(await Promise.all(read)).filter((each) => each !== null));
      const last = page.at(-1);
      if (page.length < PAGE || !last) return active;
      page = await entries.all(TRIGGER_LISTENER, last, PAGE);
    }
  }

  async #read(key: TriggerKey): Promise<QueueSubscription | null> {
    const subscription = await readSubscription(this.#options.store.entries, key);
    return subscription?.source === 'queue' && subscription.state === 'active' ? subscription : null;
  }

  #compare(active: readonly QueueSubscription[]): void {
    if (this.#ending.signal.aborted) return;
    const wanted = new Map(active.map((each) => [idOf(each), each]));
    for (const [id, { place }] of this.#listeners) {
      const subscription = wanted.get(id);
      if (!subscription || placeText(subscription) !== place) this.#end(id);
    }
    for (const [id, subscription] of wanted) if (!this.#listeners.has(id)) this.#begin(id, subscription);
  }

  #begin(id: string, subscription: QueueSubscription): void {
    const { tenant } = subscription;
    const place = placeText(subscription);
    const listening = this.#options.queue.subscribe({ tenant, ...placeOf(subscription) }, (message) =>
      this.#onMessage(subscription, place, message),
    );
    this.#listeners.set(id, { place, listening });
  }

  #end(id: string): void {
    const closing = this.#listeners.get(id)?.listening.close();
    this.#listeners.delete(id);
    if (!closing) return;
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  /** I2. */
  async #onMessage(key: TriggerKey, place: string, message: QueueDelivery): Promise<void> {
    const subscription = await this.#read(key);
    if (!subscription || placeText(subscription) !== place) {
      void this.refresh();
      throw new Error(`subscription ${key.subscriptionId} takes no messages now; they stay in their topic`);
    }
    await this.#options.take(subscription, message, this.#ending.signal);
  }
}

const idOf = ({ tenant, subscriptionId }: TriggerKey): string => `${tenant}\0${subscriptionId}`;
const placeText = (subscription: QueueSubscription): string => JSON.stringify(placeOf(subscription));
