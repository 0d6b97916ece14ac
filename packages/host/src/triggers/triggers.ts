/** Wires the triggers of one process: subscriptions, ingest, deliveries, channel writes and dead letters. */
import type { WorkflowDefinition } from '@gantry/protocol';
import type { RecordKind, Stored } from '@gantry/resources';
import type { CommitGroup } from '@gantry/store';
import { createCursors, deliveryTokens, type QueuePort } from '@gantry/surfaces';
import { deadLetterWrites, type Retention } from '../dead-letters/dead-letter.ts';
import { createDeliveryLanes } from '../deliveries/delivery-lanes.ts';
import type { Parts } from '../parts.ts';
import { systemClock } from '../runtime/clock.ts';
import { DueClock } from '../runtime/due-clock.ts';
import type { Outbox, Runtime } from '../runtime/runtime.ts';
import { surfaceCursorKey } from '../surfaces/surfaces.ts';
import type { Admitting } from '../workflows/admission.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { Attachments, type AttachmentsOptions, kept, wanted } from './attachments.ts';
import { fireChannel } from './channel-firing.ts';
import { ChannelWrites, type ChannelWritesOptions, channelFirings, channelNotes } from './channel-writes.ts';
import { deliveries } from './delivery.ts';
import { type DispatchOptions, dispatch, stored } from './dispatch.ts';
import { createIngest } from './ingest.ts';
import { QueueSource } from './queue-source/queue-source.ts';
import { takeMessage } from './queue-source/take.ts';
import { TriggerService } from './trigger-service.ts';
import { createTriggerSync } from './trigger-sync.ts';

export interface TriggersOptions extends Parts {
  readonly runtime: Pick<Runtime, 'create' | 'prepare' | 'read'>;
  /** Of the outbox, which opens before the runtime. */
  readonly channelWrites: ChannelWrites;
  readonly workflows: Admitting & Pick<WorkflowsWithPlans, 'planOf'>;
  /** Where messages that start runs come from. Without one, nothing listens. */
  readonly queue?: Pick<QueuePort, 'subscribe' | 'health'>;
  /** How attachments are fetched, and where they are kept. */
  readonly attachments: Pick<AttachmentsOptions, 'egress' | 'blobs' | 'bucket'>;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
}

/** Each holds an attachment in memory. */
const FETCHES_AT_ONCE = { max: 8, perTenantMax: 2 };

const NO_QUEUE: Pick<QueuePort, 'subscribe' | 'health'> = {
  subscribe: () => ({ close: async () => {} }),
  health: async () => {},
};

export interface TriggerOutboxOptions extends ChannelWritesOptions, Retention {}

/** What events of runs leave for triggers, in their commit. */
export function createTriggerOutbox(options: TriggerOutboxOptions) {
  const channelWrites = new ChannelWrites(options);
  const outbox: Outbox = {
    writes: (facts, events) => [
      ...channelWrites.writes(facts, events),
      ...deadLetterWrites(options, facts, events),
    ],
    committed: () => {},
  };
  return { channelWrites, outbox };
}

export type Triggers = ReturnType<typeof createTriggers>;

export function createTriggers(options: TriggersOptions) {
  const { queue = NO_QUEUE, channelWrites } = options;
  const dispatching = dispatchOptions(options);
  const source = createQueueSource(options, dispatching);
  const onChanged = (): void => void source.refresh();
  const sync = createTriggerSync({ ...options, onSynced: onChanged });
  const attachments = new Attachments({ ...options, ...options.attachments });
  const fetching = createDeliveryLanes({
    ...options,
    noun: 'attachment',
    kind: wanted.kind,
    atOnce: FETCHES_AT_ONCE,
    turn: (key) => attachments.turn(key),
  });
  const clock = <R extends object>(kind: RecordKind<R>, onDue: (due: Stored<R>) => Promise<unknown>) =>
    new DueClock({ ...options, kind, onDue });
  const clocks = [
    sync.clock,
    clock(channelNotes, (note) => channelWrites.work(note)),
    clock(channelFirings, (firing) => fireChannel(dispatching, firing)),
    clock(kept, (objects) => attachments.remove(objects)),
    clock(deliveries, (delivery) => dispatch(dispatching, stored(delivery))),
  ];

  return {
    service: new TriggerService({ ...options, onChanged, queueHealth: () => queue.health() }),
    ingest: createIngest(options),
    /** To be called after a definition was registered, with its note in that commit (`syncNote`). */
    syncTriggers: (tenant: string, { id: workflowId }: Pick<WorkflowDefinition, 'id'>) =>
      sync.now({ tenant, workflowId }),
    /** To be called with what this process has committed: some of it may be due. */
    committed(group: CommitGroup): void {
      fetching.committed(group);
      for (const each of clocks) each.committed(group);
    },
    /** Does what is due now; the clocks call it by themselves once started. */
    async tick(): Promise<void> {
      await fetching.tick();
      for (const each of clocks) await each.run();
    },
    async start() {
      for (const each of clocks) await each.start();
      await fetching.start();
      await source.start();
    },
    async stop() {
      await source.stop();
      await fetching.stop();
      for (const each of clocks) await each.stop();
    },
  };
}

const dispatchOptions = (options: TriggersOptions): DispatchOptions => ({
  ...options,
  random: () => (options.randomBytes(1)[0] ?? 0) / 255,
});

/** Receipts are sealed with the key of the surfaces, so that `ctx.queueBus.ack` accepts them. */
function createQueueSource(options: TriggersOptions, dispatching: DispatchOptions): QueueSource {
  const { masterKey, randomBytes, clock = systemClock, queue = NO_QUEUE } = options;
  const receiptOf = deliveryTokens(createCursors(surfaceCursorKey(masterKey))).receipt;
  const taking = { ...dispatching, randomBytes, clock, receiptOf };
  return new QueueSource({ ...options, queue, take: (...args) => takeMessage(taking, ...args) });
}
