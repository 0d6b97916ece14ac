/** The lanes of one kind of delivery, and the clock that finds deliveries that no process is working on. */
import type { CommitGroup, Store, StoreChange } from '@gantry/store';
import { WakeClock } from '../runtime/wake-clock.ts';
import { type LaneKey, Lanes, type LanesOptions } from './lanes.ts';

/**
 * Twice the duration of an attempt. A delivery is delayed this long if the store fails after its claim and
 * before it is sent.
 */
export const CLAIM_MS = 12_000;
const SWEEP_BATCH = 256;
const RETRY_AFTER_ERROR_MS = 5_000;

export interface DeliveryLanesOptions extends LanesOptions {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  /** The kind of pending deliveries. */
  readonly kind: string;
  /** How long an attempt excludes other processes. */
  readonly claimMs?: number;
  /** Called when another process has changed something. */
  readonly onChange?: (change: StoreChange) => void;
}

export type DeliveryLanes = ReturnType<typeof createDeliveryLanes>;

export function createDeliveryLanes(options: DeliveryLanesOptions) {
  const { store, kind, now, onChange, claimMs = CLAIM_MS } = options;
  const lanes = new Lanes(options);
  const look = () => sweep(options, (key) => lanes.wake(key));
  const clock = new WakeClock(now, look, options.clock);
  let unwatch: (() => Promise<void>) | undefined;
  return {
    /** The lane may have work. */
    wake: (key: LaneKey) => lanes.wake(key),
    /** Checks all lanes for work. */
    wakeAll: () => clock.note(now()),
    /** Call with each commit of this process: some of it may be due. */
    committed(group: CommitGroup): void {
      for (const write of group)
        if (write.kind === 'putEntry' && write.entry.kind === kind && write.entry.ref != null)
          lanes.wake({ tenant: write.entry.tenant, ref: write.entry.ref });
    },
    /** Works on everything that is due now. */
    async tick(): Promise<void> {
      await look();
      await lanes.quiet();
    },
    /** Continues the deliveries of earlier processes. */
    async start(): Promise<void> {
      unwatch = await store.watch((change) => {
        onChange?.(change);
        // The other process sends these itself; check again when its claims would have ended.
        if (change.missed || change.kinds.includes(kind)) clock.note(now() + claimMs);
      });
      clock.note(now());
    },
    /** Waits for running attempts; call before the store closes. */
    async stop(): Promise<void> {
      clock.stop();
      await unwatch?.();
      await lanes.stop();
    },
  };
}

/**
 * Finds deliveries that no process is working on, such as those of a process that died. Returns the time of
 * the next check.
 */
async function sweep(
  { store, kind, noun, now, log, claimMs = CLAIM_MS }: DeliveryLanesOptions,
  wake: (key: LaneKey) => void,
): Promise<number | null> {
  try {
    for (const { tenant, ref } of await store.entries.due(kind, now(), SWEEP_BATCH)) {
      if (ref !== null) wake({ tenant, ref });
    }
    const next = await store.entries.nextDueAt(kind);
    return next === null ? null : Math.max(next, now()) + claimMs;
  } catch (error) {
    log.warn({ err: error }, `due ${noun} deliveries could not be read; trying again`);
    return now() + RETRY_AFTER_ERROR_MS;
  }
}
