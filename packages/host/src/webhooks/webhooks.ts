/** Wires the webhooks of one process: subscriptions, outbox, lanes and dispatcher. */
import type { Egress } from '@gantry/egress';
import type { Changes } from '@gantry/resources';
import type { Store, StoreChange } from '@gantry/store';
import type { Logger } from 'pino';
import type { MasterKey } from '../master-key.ts';
import type { Clock } from '../runtime/clock.ts';
import { onceAtATime } from '../runtime/once-at-a-time.ts';
import { WakeClock } from '../runtime/wake-clock.ts';
import { DELIVERIES } from './delivery.ts';
import { CLAIM_MS, Dispatcher } from './dispatcher.ts';
import { Lanes } from './lanes.ts';
import { type Outbox, WebhookOutbox } from './outbox.ts';
import { Subscriptions } from './subscriptions.ts';
import { type WebhookKey, webhooks } from './webhook.ts';
import { WebhookService } from './webhook-service.ts';

export interface WebhooksOptions {
  readonly store: Store;
  readonly changes: Changes;
  readonly egress: Egress;
  readonly masterKey: MasterKey;
  readonly clock?: Clock;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

export interface Webhooks {
  readonly outbox: Outbox;
  readonly service: WebhookService;
  /** Loads the subscriptions and goes on with what earlier processes left. Before this no event is delivered. */
  start(): Promise<void>;
  /** Looks at everything that may be due. */
  wake(): void;
  /** Waits for attempts under way; call before the store closes. */
  stop(): Promise<void>;
}

const PENDING = DELIVERIES.pending.kind;
const SWEEP_BATCH = 256;
const RETRY_AFTER_ERROR_MS = 5_000;

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, now, randomBytes, log } = options;
  const subscriptions = new Subscriptions(store.entries);
  const random = (): number => (randomBytes(1)[0] ?? 0) / 255;
  const lanes: Lanes = new Lanes({ ...options, turn: (key) => dispatcher.turn(key) });
  const wakeLane = (key: WebhookKey): void => lanes.wake(key);
  const outbox = new WebhookOutbox({ subscriptions, now, wake: wakeLane });
  const dispatcher = new Dispatcher({ ...options, subscriptions, outbox, random });
  const service = new WebhookService({
    ...options,
    async onChanged(key) {
      await subscriptions.refresh(key);
      wakeLane(key);
    },
  });
  const clock = new WakeClock(now, () => sweep({ store, now, log, wake: wakeLane }), options.clock);
  let unwatch: (() => Promise<void>) | undefined;

  const wake = (): void => {
    for (const key of subscriptions.all()) lanes.wake(key);
    clock.note(now());
  };

  const reload = onceAtATime(async () => {
    try {
      await subscriptions.load();
    } catch (error) {
      log.warn({ err: error }, 'webhook subscriptions could not be read; those known so far stay in use');
    }
  });

  function onChange({ kinds, missed }: StoreChange): void {
    // What this process wrote with an unknown outcome may be there.
    if (missed) outbox.committed();
    if (missed || kinds.includes(webhooks.kind)) void reload();
    // The other process sends these itself; we look again when its claims would have ended.
    if (missed || kinds.includes(PENDING)) clock.note(now() + CLAIM_MS);
  }

  return {
    outbox,
    service,
    wake,
    async start() {
      unwatch = await store.watch(onChange);
      await subscriptions.load();
      wake();
    },
    async stop() {
      clock.stop();
      await unwatch?.();
      await lanes.stop();
    },
  };
}

/** Finds deliveries that no process works on, such as those of a process that died. Answers when to look again. */
async function sweep(options: {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Logger;
  readonly wake: (key: WebhookKey) => void;
}): Promise<number | null> {
  const { store, now, log, wake } = options;
  try {
    for (const { tenant, ref } of await store.entries.due(PENDING, now(), SWEEP_BATCH)) {
      if (ref !== null) wake({ tenant, webhookId: ref });
    }
    const next = await store.entries.nextDueAt(PENDING);
    return next === null ? null : Math.max(next, now()) + CLAIM_MS;
  } catch (error) {
    log.warn({ err: error }, 'due webhook deliveries could not be read; trying again');
    return now() + RETRY_AFTER_ERROR_MS;
  }
}
