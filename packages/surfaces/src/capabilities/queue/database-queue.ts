/** The queue port over a database. Waiting, streams and subscriptions are the same for all databases. */
import { OpenwopError } from '@gantry/protocol';
import { ServerError } from '../../backend-errors.ts';
import type {
  ConsumerGroup,
  QueueDelivery,
  QueueMessage,
  QueueOutcome,
  QueuePort,
  QueueReading,
} from '../../ports/queue.ts';
import type { Arrivals } from './arrivals.ts';
import { deadLetterTopicOf } from './dead-letter.ts';
import {
  type Granted,
  type QueueCall,
  type QueueLease,
  type QueueStore,
  readHandle,
  SWEEP_BATCH,
} from './queue-store.ts';
import { isNothingThere } from './refusals.ts';
import { startSubscription, TAKING } from './subscription.ts';
import { pause, takeInTurn } from './waiting.ts';

export interface DatabaseQueueOptions {
  readonly store: QueueStore;
  readonly arrivals: Arrivals;
  readonly now: () => number;
  /** Logs errors of subscriptions. */
  readonly report: (fault: unknown) => void;
}

export function databaseQueue(options: DatabaseQueueOptions): QueuePort {
  const { arrivals, now, report } = options;
  const store = explained(options.store);
  const { take, takeOrWait } = taking(store, arrivals);
  const settle: QueueStore['settle'] = async (handle, outcome, call) => {
    const settled = await store.settle(handle, outcome, call);
    const { topic, dead } = settled;
    if (outcome.kind === 'again' || dead) arrivals.ring(call.tenant, dead ? deadLetterTopicOf(topic) : topic);
    return settled;
  };
  const ending = new AbortController();
  return {
    async publish(draft, call) {
      const answer = await store.publish(draft, call);
      arrivals.ring(call.tenant, draft.topic);
      return answer;
    },
    async consume(request, call) {
      const { waitMs, signal } = request;
      if (waitMs === 0) return take(request, call);
      const wait = { now: clockFrom(call.now), waitMs, signal };
      const taken = await takeOrWait(request, call, wait);
      signal.throwIfAborted();
      return taken ?? take(request, { ...call, now: wait.now() });
    },
    settle,
    hasTopic: async (topic, { tenant }) => (await store.lastSeq(topic, tenant)) > 0,
    stream: (reading, call) =>
      readLog({ store, arrivals }, reading, { tenant: call.tenant, now: clockFrom(call.now) }),
    subscribe({ tenant, topic, group }, onMessage) {
      const source = {
        async lease(signal: AbortSignal) {
          const wait = { now, waitMs: TAKING.waitMs, signal };
          return (await takeOrWait({ topic, group, ...TAKING }, { tenant, now: now() }, wait)) ?? [];
        },
        settle: (handle: string, outcome: QueueOutcome) => settle(handle, outcome, { tenant, now: now() }),
        report,
        closing: ending.signal,
      };
      return startSubscription(source, onMessage);
    },
    health: () => store.health(),
    sweep: (at) => sweepAll(store, at),
    // The database is shared with other surfaces, which close it
    close: async () => ending.abort(),
  };
}

async function sweepAll(store: QueueStore, now: number): Promise<number> {
  let deleted = 0;
  for (let count = SWEEP_BATCH; count === SWEEP_BATCH; deleted += count) count = await store.sweep(now);
  return deleted;
}

interface Wait {
  readonly now: () => number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

type Wanted = Omit<QueueLease, 'ifEmpty'>;

function taking(store: QueueStore, arrivals: Arrivals) {
  const ringDead = (
    { buried }: { readonly buried: boolean },
    { topic }: ConsumerGroup,
    { tenant }: QueueCall,
  ) => {
    if (buried) arrivals.ring(tenant, deadLetterTopicOf(topic));
  };
  const lease = async (wanted: Wanted, call: QueueCall, ifEmpty: QueueLease['ifEmpty']) => {
    const { topic, group, messagesMax, visibilityMs, deliveriesMax } = wanted;
    const asked = { topic, group, messagesMax, visibilityMs, deliveriesMax, ifEmpty };
    const granted = await store.lease(asked, call);
    ringDead(granted, wanted, call);
    return deliveriesOf(store, granted, call);
  };
  return {
    take: (wanted: Wanted, call: QueueCall) => lease(wanted, call, 'answer'),
    /** Null after a timeout or an abort. */
    takeOrWait: (wanted: Wanted, call: QueueCall, wait: Wait) =>
      takeInTurn({
        ...wait,
        turn: () => arrivals.turn(call.tenant, wanted),
        bell: () => arrivals.bell(call.tenant, wanted.topic),
        readyAt: (at) => store.readyAt(wanted, call.tenant, at),
        attempt: (at) => lease(wanted, { ...call, now: at }, 'refuse').catch(nullIfNothing),
        makeWay: async (at) => ringDead(await store.makeWay(wanted, { ...call, now: at }), wanted, call),
      }),
  };
}

function nullIfNothing(error: unknown): null {
  if (isNothingThere(error)) return null;
  throw error;
}

/** Counts from the arrival of a call, independent of changes of the system clock. */
function clockFrom(now: number): () => number {
  const startedAt = performance.now();
  return () => now + Math.floor(performance.now() - startedAt);
}

async function* readLog(
  { store, arrivals }: Pick<DatabaseQueueOptions, 'store' | 'arrivals'>,
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

/** Maps unavailability of the database to the code of the queue. */
function explained(store: QueueStore): QueueStore {
  const explain = (error: unknown): never => {
    if (!(error instanceof OpenwopError) || error.code !== 'storage_unavailable') throw error;
    throw error instanceof ServerError
      ? error.as('queue_backend_unavailable')
      : new OpenwopError('queue_backend_unavailable', {
          message: error.message,
          cause: error.cause ?? error,
        });
  };
  return {
    publish: (...args) => store.publish(...args).catch(explain),
    lease: (...args) => store.lease(...args).catch(explain),
    makeWay: (...args) => store.makeWay(...args).catch(explain),
    messages: (...args) => store.messages(...args).catch(explain),
    settle: (...args) => store.settle(...args).catch(explain),
    readyAt: (...args) => store.readyAt(...args).catch(explain),
    read: (...args) => store.read(...args).catch(explain),
    lastSeq: (...args) => store.lastSeq(...args).catch(explain),
    sweep: (...args) => store.sweep(...args).catch(explain),
    health: (...args) => store.health(...args).catch(explain),
  };
}

export async function deliveriesOf(
  store: Pick<QueueStore, 'messages'>,
  { handles, messages }: Granted,
  call: QueueCall,
): Promise<readonly QueueDelivery[]> {
  const parts = handles.map((handle) => ({ handle, seq: 0, count: 0, ...readHandle(handle) }));
  if (parts.length === 0) return [];
  const seqs = parts.map(({ seq }) => seq);
  const found = messages ?? (await store.messages(seqs, call.tenant));
  const bySeq = new Map(found.map(({ seq, ...message }) => [seq, message]));
  const deliveries = parts.flatMap(({ handle, seq, count: deliveryCount }) => {
    const message = bySeq.get(seq);
    return message ? [{ ...message, deliveryCount, handle }] : [];
  });
  const missing = handles.length - deliveries.length;
  if (missing > 0 && 'invocation' in call) throw gone(missing, handles.length);
  return deliveries;
}

const gone = (missing: number, all: number): OpenwopError =>
  new OpenwopError('queue_delivery_token_expired', {
    message:
      `This call was given ${all} messages when the node first ran, and ${missing} of them no longer exist: ` +
      'they have expired, or were acknowledged and made room for others. Start a new run for what is there now.',
  });
