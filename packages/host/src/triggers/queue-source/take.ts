/**
 * Starts the run of a message.
 *
 * I1  The run, the end of its delivery and the mark of the message are one commit. The message is acknowledged
 *     after it: a process that dies in between gets the message again and finds the mark.
 * I2  When this resolves, the mark is on disk. What else can become of a message (a dead letter, another attempt
 *     later) carries the mark in the same way.
 * I3  A host at its capacity takes messages at the pace of its runs; the others wait in their topic. If it stays at its
 *     capacity, it takes the message and tries again by the subscription's policy.
 */
import { hash } from 'node:crypto';
import { newId, OpenwopError } from '@gantry/protocol';
import type { QueueDelivery } from '@gantry/surfaces';
import { type Clock, pause } from '../../runtime/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { deliveries, markId, marks } from '../delivery.ts';
import { type DispatchOptions, dispatch } from '../dispatch.ts';
import type { QueueTrigger } from '../trigger.ts';

/** The queue holds the message meanwhile. */
const ROOM_WAIT_MS = 30_000;
const ROOM_RETRY_MS = { first: 20, max: 250 };
/** Longer than any backend keeps a message that could come again. */
const MARK_KEPT_MS = 8 * 86_400_000;

export interface TakeOptions extends DispatchOptions {
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
  /** What packs may acknowledge instead of the message, which is acknowledged by then. */
  readonly receiptOf: (tenant: string, messageId: string) => string;
}

export async function takeMessage(
  options: TakeOptions,
  { tenant, id: subscriptionId, record: { topic } }: QueueTrigger,
  { messageId, payload, headers }: QueueDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { now, randomBytes, receiptOf, runtime, clock } = options;
  const dueAt = now();
  const id = newId(deliveries.idPrefix, dueAt, randomBytes);
  const event = { payload, headers: { ...headers }, messageId: receiptOf(tenant, messageId) };
  const dedupKey = hash('sha256', `queue\0${topic}\0${messageId}`, 'hex').slice(0, 32);
  const state = { status: 'pending', event, dueAt } as const;
  const create = withRoom(clock, signal, (...args) => runtime.create(...args));
  await dispatch(
    { ...options, runtime: { create } },
    {
      tenant,
      id,
      record: { subscriptionId, dedupKey, verified: false, attempts: 0, state },
      async keep(change, next) {
        const mark = markId(subscriptionId, dedupKey);
        if (await change.find(marks, mark)) return false;
        change.create(marks, { deliveryId: id, until: dueAt + MARK_KEPT_MS }, mark);
        change.create(deliveries, next, id);
        return true;
      },
    },
  );
}

/** I3. */
function withRoom(clock: Clock, signal: AbortSignal, create: Runtime['create']): Runtime['create'] {
  return async (...args) => {
    let delayMs = ROOM_RETRY_MS.first;
    for (let waitedMs = 0; ; waitedMs += delayMs, delayMs = Math.min(2 * delayMs, ROOM_RETRY_MS.max)) {
      try {
        return await create(...args);
      } catch (error) {
        if (!isFull(error) || waitedMs >= ROOM_WAIT_MS || signal.aborted) throw error;
      }
      // A host that stops does not wait, and takes the message as it is
      await pause(clock, delayMs, signal);
    }
  };
}

const isFull = (error: unknown): boolean =>
  error instanceof OpenwopError && error.code === 'service_unavailable';
