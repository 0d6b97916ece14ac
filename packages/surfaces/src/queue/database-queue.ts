/** The queue port over a database: waiting, streams and subscriptions are the same for all of them. */
import { OpenwopError } from '@gantry/protocol';
import { ServerError } from '../backend-errors.ts';
import type { QueueMessage, QueuePlace, QueuePort, QueueReading } from '../ports/queue.ts';
import type { Arrivals } from './arrivals.ts';
import { deadLetterTopicOf } from './dead-letter.ts';
import { backendUnavailable } from './errors.ts';
import { deliveriesOf } from './granted.ts';
import { pause } from './pause.ts';
import { type QueueCall, type QueueLease, type QueueStore, SWEEP_BATCH } from './queue-store.ts';
import {
  SUBSCRIPTION_BATCH,
  SUBSCRIPTION_VISIBILITY_MS,
  SUBSCRIPTION_WAIT_MS,
  startSubscription,
} from './subscription.ts';

export interface DatabaseQueueOptions {
  readonly store: QueueStore;
  readonly arrivals: Arrivals;
  readonly now: () => number;
  /** For the log: what a subscription failed with. */
  readonly report: (fault: unknown) => void;
  readonly close: () => Promise<void>;
}

export function databaseQueue(options: DatabaseQueueOptions): QueuePort {
  const { arrivals, now, report, close } = options;
  const store = explained(options.store);
  const lease = async ({ topic, group, messagesMax, visibilityMs }: QueueLease, call: QueueCall) => {
    const granted = await store.lease({ topic, group, messagesMax, visibilityMs }, call);
    if (granted.buried) arrivals.ring(call.tenant, deadLetterTopicOf(topic));
    return deliveriesOf(store, granted, call);
  };
  const settle: QueueStore['settle'] = async (handle, outcome, call) => {
    const settled = await store.settle(handle, outcome, call);
    const { topic, dead } = settled;
    if (outcome.kind !== 'done') arrivals.ring(call.tenant, dead ? deadLetterTopicOf(topic) : topic);
    return settled;
  };
  const patient = { store, arrivals };
  const ending = new AbortController();
  return {
    backend: 'database',
    journal: 'own',
    publishesOnce: true,
    delays: true,
    async publish(draft, call) {
      const answer = await store.publish(draft, call);
      arrivals.ring(call.tenant, draft.topic);
      return answer;
    },
    async consume(request, call) {
      const { tenant } = call;
      const wait = { tenant, now: clockFrom(call.now), waitMs: request.waitMs, signal: request.signal };
      const at = request.waitMs === 0 ? call.now : await untilReady(patient, request, wait);
      request.signal.throwIfAborted();
      return lease(request, { ...call, now: at });
    },
    settle,
    stream: (reading, call) => readLog(patient, reading, { tenant: call.tenant, now: clockFrom(call.now) }),
    subscribe({ tenant, topic, group }, onMessage) {
      const size = { messagesMax: SUBSCRIPTION_BATCH, visibilityMs: SUBSCRIPTION_VISIBILITY_MS };
      const source = {
        async lease(signal: AbortSignal) {
          const wait = { tenant, now, waitMs: SUBSCRIPTION_WAIT_MS, signal };
          const at = await untilReady(patient, { topic, group }, wait);
          return signal.aborted ? [] : lease({ topic, group, ...size }, { tenant, now: at });
        },
        settle: (handle: string, outcome: Parameters<QueuePort['settle']>[1]) =>
          settle(handle, outcome, { tenant, now: now() }),
        report,
        closing: ending.signal,
      };
      return startSubscription(source, onMessage);
    },
    health: () => store.health(),
    sweep: (at) => sweepAll(store, at),
    async close() {
      ending.abort();
      await close();
    },
  };
}

async function sweepAll(store: QueueStore, now: number): Promise<number> {
  let deleted = 0;
  for (let count = SWEEP_BATCH; count === SWEEP_BATCH; deleted += count) count = await store.sweep(now);
  return deleted;
}

interface Patient {
  readonly store: QueueStore;
  readonly arrivals: Arrivals;
}

interface Wait {
  readonly tenant: string;
  readonly now: () => number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Goes on from when a call arrived, whatever the clock of the machine says. */
function clockFrom(now: number): () => number {
  const startedAt = performance.now();
  return () => now + Math.floor(performance.now() - startedAt);
}

/** Answers when it stopped waiting: something may be there, the time is over, or nobody wants it any more. */
async function untilReady({ store, arrivals }: Patient, place: QueuePlace, wait: Wait): Promise<number> {
  const { tenant, now, signal } = wait;
  const until = now() + wait.waitMs;
  for (;;) {
    const bell = arrivals.bell(tenant, place.topic);
    try {
      const readyAt = await store.readyAt(place, tenant, now());
      const at = now();
      if (at >= until || signal.aborted || (readyAt !== null && readyAt <= at)) return at;
      await pause(Math.min(until, readyAt ?? until) - at, signal, [bell.rung]);
    } finally {
      bell.stop();
    }
  }
}

async function* readLog(
  { store, arrivals }: Patient,
  { topic, fromBeginning, follow, signal }: QueueReading,
  { tenant, now }: { readonly tenant: string; readonly now: () => number },
): AsyncGenerator<QueueMessage> {
  let last = fromBeginning ? 0 : await store.lastSeq(topic, tenant);
  while (!signal.aborted) {
    const bell = arrivals.bell(tenant, topic);
    try {
      const messages = await store.read(topic, last, tenant, now());
      for (const { seq, ...message } of messages) {
        last = seq;
        yield message;
      }
      if (messages.length > 0) continue;
      if (!follow) return;
      await pause(Number.POSITIVE_INFINITY, signal, [bell.rung]);
    } finally {
      bell.stop();
    }
  }
}

/** What the database calls its own unavailability is the queue's. */
function explained(store: QueueStore): QueueStore {
  const explain = (error: unknown): never => {
    if (!(error instanceof OpenwopError) || error.code !== 'storage_unavailable') throw error;
    throw error instanceof ServerError
      ? error.as('queue_backend_unavailable')
      : backendUnavailable(error.message, error.cause ?? error);
  };
  return {
    publish: (...args) => store.publish(...args).catch(explain),
    lease: (...args) => store.lease(...args).catch(explain),
    messages: (...args) => store.messages(...args).catch(explain),
    settle: (...args) => store.settle(...args).catch(explain),
    readyAt: (...args) => store.readyAt(...args).catch(explain),
    read: (...args) => store.read(...args).catch(explain),
    lastSeq: (...args) => store.lastSeq(...args).catch(explain),
    sweep: (...args) => store.sweep(...args).catch(explain),
    health: (...args) => store.health(...args).catch(explain),
  };
}
