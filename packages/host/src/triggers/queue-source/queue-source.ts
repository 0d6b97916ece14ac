/**
 * Listens to the topics of the subscriptions that are active, in every process.
 *
 * I1  What is listened to is derived from what is stored: compared at the start, and after each change here or in
 *     another process.
 * I2  The subscription is read again for each message. If it is paused, deleted or has another topic by now, the message
 *     stays in its topic.
 */
import type { Store } from '@gantry/store';
import type { QueueSubscription as Listening, QueueDelivery, QueuePort } from '@gantry/surfaces';
import type { Parts } from '../../parts.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { onceAtATime } from '../../runtime/once-at-a-time.ts';
import {
  consumersOf,
  isQueue,
  type QueueTrigger,
  readTrigger,
  TRIGGER_LISTENER,
  triggers,
} from '../trigger.ts';

const PAGE = 256;
const RETRY_MS = 1_000;

export interface QueueSourceOptions extends Pick<Parts, 'clock' | 'log'> {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly queue: Pick<QueuePort, 'subscribe'>;
  /** Rejects when the message is not taken. */
  readonly take: (trigger: QueueTrigger, message: QueueDelivery, signal: AbortSignal) => Promise<void>;
}

interface Listener {
  /** Topic and group. */
  readonly topic: string;
  readonly listening: Listening;
}

export class QueueSource {
  readonly #options: QueueSourceOptions;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Listener>();
  /** Listeners that let their last messages end. */
  readonly #closing = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  /** I1. One pass at a time; what changes meanwhile is seen by the next. Never rejects. */
  readonly #look = onceAtATime(() => this.#pass());
  #cancelRetry = (): void => {};
  #stopWatching: (() => Promise<void>) | undefined;

  constructor(options: QueueSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async start(): Promise<void> {
    this.#stopWatching = await this.#options.store.watch(({ missed, kinds }) => {
      if (missed || kinds.includes(triggers.kind) || kinds.includes(TRIGGER_LISTENER)) void this.refresh();
    });
    await this.refresh();
  }

  async refresh(): Promise<void> {
    // The start looks at everything: until then no run can begin
    if (this.#stopWatching) await this.#look();
  }

  /** Resolves when no message is under way. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#cancelRetry();
    await this.#stopWatching?.();
    await this.#look();
    for (const id of this.#listeners.keys()) this.#end(id);
    await Promise.all(this.#closing);
  }

  async #pass(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    try {
      this.#compare(await this.#active());
    } catch (error) {
      this.#options.log.warn({ err: error }, 'subscriptions to queues could not be read; trying again');
      this.#cancelRetry();
      this.#cancelRetry = this.#clock.after(RETRY_MS, () => void this.refresh(), 'background');
    }
  }

  async #active(): Promise<QueueTrigger[]> {
    const { entries } = this.#options.store;
    const active: QueueTrigger[] = [];
    for (let page = await entries.all(TRIGGER_LISTENER, null, PAGE); ; ) {
      const read = page.map(({ tenant, id }) => this.#read(tenant, id));
      active.push(...(await Promise.all(read)).filter((each) => each !== null));
      const last = page.at(-1);
      if (page.length < PAGE || !last) return active;
      page = await entries.all(TRIGGER_LISTENER, last, PAGE);
    }
  }

  async #read(tenant: string, id: string): Promise<QueueTrigger | null> {
    const trigger = await readTrigger(this.#options.store.entries, tenant, id);
    return trigger && isQueue(trigger) && trigger.record.state === 'active' ? trigger : null;
  }

  #compare(active: readonly QueueTrigger[]): void {
    if (this.#ending.signal.aborted) return;
    const wanted = new Map(active.map((each) => [idOf(each), each]));
    for (const [id, { topic }] of this.#listeners) {
      const trigger = wanted.get(id);
      if (!trigger || topicText(trigger) !== topic) this.#end(id);
    }
    for (const [id, trigger] of wanted) if (!this.#listeners.has(id)) this.#begin(id, trigger);
  }

  #begin(id: string, trigger: QueueTrigger): void {
    const { tenant } = trigger;
    const topic = topicText(trigger);
    const listening = this.#options.queue.subscribe({ tenant, ...consumersOf(trigger) }, (message) =>
      this.#onMessage(trigger, topic, message),
    );
    this.#listeners.set(id, { topic, listening });
  }

  #end(id: string): void {
    const closing = this.#listeners.get(id)?.listening.close();
    this.#listeners.delete(id);
    if (!closing) return;
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  /** I2. */
  async #onMessage({ tenant, id }: QueueTrigger, topic: string, message: QueueDelivery): Promise<void> {
    const trigger = await this.#read(tenant, id);
    if (!trigger || topicText(trigger) !== topic) {
      void this.refresh();
      throw new Error(`subscription ${id} does not accept messages now; they stay in their topic`);
    }
    await this.#options.take(trigger, message, this.#ending.signal);
  }
}

const idOf = ({ tenant, id }: QueueTrigger): string => `${tenant}\0${id}`;
const topicText = (trigger: QueueTrigger): string => JSON.stringify(consumersOf(trigger));
