/** Wires the triggers of one process: subscriptions, ingest, deliveries, channel writes and dead letters. */
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Changes } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { QueuePort } from '@gantry/surfaces';
import type { Logger } from 'pino';
import { DeadLetterService } from '../dead-letters/dead-letter-service.ts';
import { deadLetterWrites } from '../dead-letters/outbox.ts';
import type { MasterKey } from '../master-key.ts';
import { DueClock } from '../runtime/due-clock.ts';
import type { Outbox, Runtime } from '../runtime/runtime.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { fireChannel } from './channel-firing.ts';
import { CHANNEL_FIRING, CHANNEL_NOTE, ChannelWrites } from './channel-writes.ts';
import { DELIVERY } from './delivery.ts';
import { type DispatchOptions, dispatch } from './dispatch.ts';
import { createIngest, type Ingest } from './ingest.ts';
import { QueueSource } from './queue-source/queue-source.ts';
import { receipts } from './queue-source/receipt.ts';
import { takeMessage } from './queue-source/take.ts';
import { TriggerDesk } from './trigger-desk.ts';
import { SUBSCRIPTION_SYNC, syncSubscriptions } from './trigger-sync.ts';

export interface TriggersOptions {
  readonly store: Store;
  readonly changes: Changes;
  /** Asked for only when something is due: the runtime itself needs the outbox. */
  readonly runtime: () => Pick<Runtime, 'create' | 'prepare' | 'read'>;
  readonly workflows: Pick<WorkflowsWithPlans, 'resolve' | 'planOf'>;
  readonly masterKey: MasterKey;
  /** Where messages that start runs come from. Without one, nothing listens. */
  readonly queue?: Pick<QueuePort, 'subscribe' | 'health'>;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

export interface Triggers {
  readonly outbox: Outbox;
  readonly desk: TriggerDesk;
  readonly deadLetters: DeadLetterService;
  readonly ingest: Ingest;
  /** To be called after a definition was registered, with its note in that commit (`subscriptionSyncNote`). */
  syncTriggers(tenant: string, definition: Pick<WorkflowDefinition, 'id'>): Promise<void>;
  /** Does what is due now; the clocks call it by themselves once started. */
  tick(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const NO_QUEUE: Pick<QueuePort, 'subscribe' | 'health'> = {
  subscribe: () => ({ close: async () => {} }),
  health: async () => {},
};

export function createTriggers(options: TriggersOptions): Triggers {
  const { now, queue = NO_QUEUE } = options;
  const channelWrites = new ChannelWrites(options);
  const dispatching = dispatchOptions(options);
  const noted = (at: number): void => clocks.deliveries.note(at);
  const source = createQueueSource(options, { ...dispatching, noted });
  const changed = (): void => void source.refresh();
  const sync = async (workflow: Parameters<typeof syncSubscriptions>[1]): Promise<void> => {
    await syncSubscriptions(options, workflow);
    changed();
  };
  const clocks = createClocks(options, { dispatching, channelWrites, sync });
  const all = Object.values(clocks);

  return {
    outbox: {
      writes: (facts, events) => [
        ...channelWrites.writes(facts, events),
        ...deadLetterWrites(options, facts, events),
      ],
      committed: () => {
        if (channelWrites.isWaiting()) clocks.notes.note(now());
      },
    },
    desk: new TriggerDesk({ ...options, noted, changed, queueHealth: () => queue.health() }),
    deadLetters: new DeadLetterService({ ...options, noted }),
    ingest: createIngest({ ...options, noted }),
    syncTriggers: (tenant, { id }) => sync({ tenant, workflowId: id }),
    async tick() {
      for (const clock of all) await clock.run();
    },
    async start() {
      for (const clock of all) await clock.start();
      await source.start();
    },
    async stop() {
      await source.stop();
      for (const clock of all) await clock.stop();
    },
  };
}

function dispatchOptions(options: TriggersOptions): DispatchOptions {
  const { store, workflows, now, randomBytes } = options;
  return {
    store,
    workflows,
    now,
    office: options,
    runtime: { create: (...args) => options.runtime().create(...args) },
    random: () => (randomBytes(1)[0] ?? 0) / 255,
  };
}

function createQueueSource(
  { store, log, masterKey, randomBytes, queue = NO_QUEUE }: TriggersOptions,
  dispatching: DispatchOptions & { readonly noted: (dueAt: number) => void },
): QueueSource {
  const options = { ...dispatching, randomBytes, receiptOf: receipts(masterKey) };
  return new QueueSource({ store, log, queue, take: (...args) => takeMessage(options, ...args) });
}

interface ClockWork {
  readonly dispatching: DispatchOptions;
  readonly channelWrites: ChannelWrites;
  readonly sync: (workflow: Parameters<typeof syncSubscriptions>[1]) => Promise<void>;
}

function createClocks(options: TriggersOptions, { dispatching, channelWrites, sync }: ClockWork) {
  const { store, log, now } = options;
  const clock = (kind: string, onDue: ConstructorParameters<typeof DueClock>[0]['onDue']): DueClock =>
    new DueClock({ store, now, log, kind, onDue });
  const firings = clock(CHANNEL_FIRING, (entry) => fireChannel(dispatching, entry));
  return {
    syncs: clock(SUBSCRIPTION_SYNC, ({ tenant, ref }) => sync({ tenant, workflowId: ref ?? '' })),
    notes: clock(CHANNEL_NOTE, async (entry) => firings.note(await channelWrites.work(entry))),
    firings,
    deliveries: clock(DELIVERY, (entry) => dispatch(dispatching, entry)),
  };
}
