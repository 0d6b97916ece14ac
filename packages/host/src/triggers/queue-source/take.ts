/**
 * Starts the run of a message.
 *
 * I1  The run, the end of its delivery and the mark of the message are one commit. The message is acknowledged
 *     after it: who dies in between gets the message again and finds the mark.
 * I2  When this resolves, the mark is on disk. What else can become of a message (a dead letter, another attempt
 *     later) carries the mark in the same way.
 * I3  A host without room takes messages at the pace of its runs, and lets the others wait in their topic. One that
 *     has none for long takes the message and tries by the subscription's policy.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { OpenwopError } from '@gantry/protocol';
import type { Write } from '@gantry/store';
import type { QueueDelivery } from '@gantry/surfaces';
import type { Runtime } from '../../runtime/runtime.ts';
import { type DispatchOptions, dispatch } from '../dispatch.ts';
import type { QueueSubscription } from '../subscription.ts';
import { type ArrivalOptions, arrivalOf } from './arrival.ts';

/** Well under the time after which queues hand a message over again. */
const ROOM_WAIT_MS = 30_000;
const ROOM_RETRY_MS = { first: 20, max: 250 };

export interface TakeOptions extends DispatchOptions, ArrivalOptions {
  /** A delivery is due at that time, on disk. */
  readonly noted: (dueAt: number) => void;
}

export async function takeMessage(
  options: TakeOptions,
  subscription: QueueSubscription,
  message: QueueDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { entries } = options.store;
  const { entry, mark, markKey } = arrivalOf(options, subscription, message);
  await dispatch(marking(options, mark, signal), entry);
  if (!(await entries.get(markKey)))
    throw new Error(`subscription ${subscription.subscriptionId} changed just now; not taken`);
  // Absent when the message was taken before; with a due time when it is tried again
  const delivery = await entries.get(entry);
  if (delivery && delivery.dueAt !== null) options.noted(delivery.dueAt);
}

/** I1, I2. */
function marking(options: TakeOptions, mark: Write, signal: AbortSignal): DispatchOptions {
  const { store, runtime } = options;
  return {
    ...options,
    store: {
      entries: store.entries,
      commit: (groups) => store.commit(groups.map((group) => [...group, mark])),
    },
    runtime: {
      create: withRoom(signal, (newRun, { writes, ...rest } = {}) =>
        runtime.create(newRun, { ...rest, writes: (run) => [...(writes?.(run) ?? []), mark] }),
      ),
    },
  };
}

/** I3. */
function withRoom(signal: AbortSignal, create: Runtime['create']): Runtime['create'] {
  return async (...args) => {
    let delayMs = ROOM_RETRY_MS.first;
    for (let waitedMs = 0; ; waitedMs += delayMs, delayMs = Math.min(2 * delayMs, ROOM_RETRY_MS.max)) {
      try {
        return await create(...args);
      } catch (error) {
        if (!isFull(error) || waitedMs >= ROOM_WAIT_MS || signal.aborted) throw error;
      }
      // Who stops does not wait, and takes the message as it is
      await pause(delayMs, undefined, { signal }).catch(() => {});
    }
  };
}

const isFull = (error: unknown): boolean =>
  error instanceof OpenwopError && error.code === 'service_unavailable';
