/** Messages published, taken, acknowledged and given back while something dies. */
import { OpenwopError } from '@gantry/protocol';
import type { Data } from '../calls/data.ts';
import type { CrashNode } from './crash-call-gate.ts';
import type { Found, Told, Work } from './crash-works.ts';

interface Delivery {
  readonly payload: number;
  readonly deliveryToken: string;
  readonly deliveryCount: number;
}

interface Consumed {
  readonly payload: number;
  readonly became: 'acked' | 'returned' | 'expired';
}

const as = <T>(value: Data | undefined): T => value as T;

export const publish: Work = {
  act: ({ call }, n) => call('queueBus.publish', { topic: 'published', payload: n }),
  async find({ call, sent }) {
    await call('queueBus.streamSubscribe', { topic: 'published', fromBeginning: true, follow: false });
    return { kind: 'each', numbers: sent.map((message) => as<Delivery>(message).payload) };
  },
};

/** Short, since what a dead process held comes again only then. */
const VISIBILITY_MS = 1_500;
const WAIT_MS = 5_000;
const topic = 'jobs';

/** Publishes a message, takes one (seldom the same), and acknowledges it or gives it back. */
export const consume: Work = {
  async act({ call }, n) {
    await call('queueBus.publish', { topic, payload: n });
    const asked = { topic, maxMessages: 1, visibilityMs: VISIBILITY_MS, waitMs: WAIT_MS };
    const [taken] = as<{ messages: readonly Delivery[] }>(await call('queueBus.consume', asked)).messages;
    if (!taken) return { became: 'none' };
    const { payload, deliveryToken, deliveryCount } = taken;
    const isReturned = n % 3 === 1 && deliveryCount === 1;
    try {
      await call(isReturned ? 'queueBus.nack' : 'queueBus.ack', { deliveryToken });
      return { payload, became: isReturned ? 'returned' : 'acked' };
    } catch (error) {
      if (!(error instanceof OpenwopError && error.code === 'queue_delivery_token_expired')) throw error;
      return { payload, became: 'expired' };
    }
  },
  async find(node, { acked }: Told): Promise<Found> {
    const consumed = [...acked.values()].map((answer) => as<Consumed>(answer));
    const by = (became: Consumed['became']) =>
      consumed.filter((each) => each.became === became).map(({ payload }) => payload);
    const [done, unsure] = [by('acked'), new Set(by('expired'))];
    const missing = new Set([...acked.keys()].filter((n) => !done.includes(n) && !unsure.has(n)));
    return { kind: 'each', numbers: [...done, ...(await drain(node, missing))], unsure };
  },
};

const PATIENCE_MS = 60_000;

/** Takes all that comes until nothing is missing, and then what else is there. */
async function drain({ call }: CrashNode, missing: Set<number>): Promise<number[]> {
  const drained: number[] = [];
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
    const waitMs = missing.size === 0 ? 0 : WAIT_MS;
    const asked = { topic, maxMessages: 100, visibilityMs: 600_000, waitMs };
    const { messages } = as<{ messages: readonly Delivery[] }>(await call('queueBus.consume', asked));
    await Promise.all(messages.map(({ deliveryToken }) => call('queueBus.ack', { deliveryToken })));
    for (const { payload } of messages) {
      drained.push(payload);
      missing.delete(payload);
    }
    if (messages.length === 0 && missing.size === 0) break;
  }
  return drained;
}
