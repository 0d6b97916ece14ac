/** Wires the triggers of one process: subscriptions, ingest, deliveries, channel writes and dead letters. */
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import { DeadLetterDesk } from '../dead-letters/dead-letter-desk.ts';
import { deadLetterWrites } from '../dead-letters/outbox.ts';
import type { MasterKey } from '../master-key.ts';
import { DueClock } from '../runtime/due-clock.ts';
import type { Outbox, Runtime } from '../runtime/runtime.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { fireChannel } from './channel-firing.ts';
import { CHANNEL_FIRING, CHANNEL_NOTE, ChannelWrites } from './channel-writes.ts';
import { DELIVERY } from './delivery.ts';
import { dispatch } from './dispatch.ts';
import { createIngest, type Ingest } from './ingest.ts';
import { TriggerDesk } from './trigger-desk.ts';
import { SUBSCRIPTION_SYNC, syncSubscriptions } from './trigger-sync.ts';

export interface TriggersOptions {
  readonly store: Store;
  /** Asked for only when something is due: the runtime itself needs the outbox. */
  readonly runtime: () => Pick<Runtime, 'create' | 'adopt' | 'read'>;
  readonly workflows: Pick<WorkflowsWithPlans, 'resolve' | 'planOf'>;
  readonly masterKey: MasterKey;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

export interface Triggers {
  readonly outbox: Outbox;
  readonly desk: TriggerDesk;
  readonly deadLetters: DeadLetterDesk;
  readonly ingest: Ingest;
  /** To be called after a definition was registered, with its note in that commit (`subscriptionSyncNote`). */
  syncTriggers(tenant: string, definition: Pick<WorkflowDefinition, 'id'>): Promise<void>;
  /** Does what is due now; the clocks call it by themselves once started. */
  tick(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createTriggers(options: TriggersOptions): Triggers {
  const { now } = options;
  const channelWrites = new ChannelWrites(options);
  const clocks = createClocks(options, channelWrites);
  const noted = (at: number): void => clocks.deliveries.note(at);
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
    desk: new TriggerDesk({ ...options, noted }),
    deadLetters: new DeadLetterDesk({ ...options, noted }),
    ingest: createIngest({ ...options, noted }),
    syncTriggers: (tenant, { id }) => syncSubscriptions(options, { tenant, workflowId: id }),
    async tick() {
      for (const clock of all) await clock.run();
    },
    async start() {
      for (const clock of all) await clock.start();
    },
    async stop() {
      for (const clock of all) await clock.stop();
    },
  };
}

function createClocks(options: TriggersOptions, writes: ChannelWrites) {
  const { store, log, workflows, now, randomBytes } = options;
  const dispatching = {
    ...{ store, workflows, now, office: options },
    runtime: { create: (...args: Parameters<Runtime['create']>) => options.runtime().create(...args) },
    random: () => (randomBytes(1)[0] ?? 0) / 255,
  };
  const clock = (kind: string, onDue: ConstructorParameters<typeof DueClock>[0]['onDue']): DueClock =>
    new DueClock({ store, now, log, kind, onDue });
  const firings = clock(CHANNEL_FIRING, (entry) => fireChannel(dispatching, entry));
  return {
    syncs: clock(SUBSCRIPTION_SYNC, ({ tenant, ref }) =>
      syncSubscriptions(options, { tenant, workflowId: ref ?? '' }),
    ),
    notes: clock(CHANNEL_NOTE, async (entry) => firings.note(await writes.work(entry))),
    firings,
    deliveries: clock(DELIVERY, (entry) => dispatch(dispatching, entry)),
  };
}
