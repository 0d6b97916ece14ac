/** Wires the webhooks of one process: subscriptions, outbox, lanes and dispatcher. */
import type { Egress } from '@gantry/egress';
import { createDeliveryLanes, type DeliveryLanes } from '../deliveries/delivery-lanes.ts';
import type { Parts } from '../parts.ts';
import { onceAtATime } from '../runtime/once-at-a-time.ts';
import { DELIVERIES } from './delivery.ts';
import { Dispatcher } from './dispatcher.ts';
import { WebhookOutbox } from './outbox.ts';
import type { LinksOf } from './send.ts';
import { Subscriptions } from './subscriptions.ts';
import { webhooks } from './webhook.ts';
import { WebhookService } from './webhook-service.ts';

export interface WebhooksOptions
  extends Pick<Parts, 'store' | 'changes' | 'masterKey' | 'clock' | 'now' | 'randomBytes' | 'log'> {
  readonly egress: Egress;
  readonly linksOf: LinksOf;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks(options: WebhooksOptions) {
  const { store, now, randomBytes, log } = options;
  const subscriptions = new Subscriptions(store.entries);
  const random = (): number => (randomBytes(1)[0] ?? 0) / 255;
  const lanes: DeliveryLanes = createDeliveryLanes({
    ...options,
    noun: 'webhook',
    kind: DELIVERIES.pending.kind,
    turn: (key) => dispatcher.turn(key),
    onChange({ kinds, missed }) {
      // What this process wrote with an unknown outcome may be there.
      if (missed) outbox.committed();
      if (missed || kinds.includes(webhooks.kind)) void reload();
    },
  });
  const outbox = new WebhookOutbox({ subscriptions, now, wake: lanes.wake });
  const dispatcher = new Dispatcher({ ...options, subscriptions, outbox, random });
  const service = new WebhookService({
    ...options,
    async onChanged(key) {
      await subscriptions.refresh(key);
      lanes.wake(key);
    },
  });

  const reload = onceAtATime(async () => {
    try {
      await subscriptions.load();
    } catch (error) {
      log.warn({ err: error }, 'webhook subscriptions could not be read; those known so far stay in use');
    }
  });
  /** Looks at everything that may be due. */
  const wake = (): void => {
    for (const key of subscriptions.all()) lanes.wake(key);
    lanes.wakeAll();
  };

  return {
    outbox,
    service,
    wake,
    /** Loads the subscriptions and goes on with what earlier processes left. Before this no event is delivered. */
    async start(): Promise<void> {
      await lanes.start();
      await subscriptions.load();
      wake();
    },
    stop: lanes.stop,
  };
}
