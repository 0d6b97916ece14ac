/** The user of a queue that the contract of its port is written with. */
import assert from 'node:assert/strict';
import { read, write } from '../testing/calls.ts';
import type { QueueBounds, QueueDelivery, QueueMessage, QueuePort } from './queue.ts';

export const QUEUE_CONTRACT_BOUNDS: QueueBounds = {
  retentionMs: 3_600_000,
  quotaBytes: 131_072,
  groupsMax: 6,
};

const PATIENCE_MS = 60_000;

/** A tenant at work. */
export interface QueueUser {
  readonly tenant: string;
  readonly port: QueuePort;
  publish(topic: string, payload: QueueMessage['payload'], id?: string): Promise<string>;
  take(topic: string, request?: Take): Promise<readonly QueueDelivery[]>;
  /** Waits for it. */
  takeOne(topic: string, request?: Take): Promise<QueueDelivery>;
  /** All that is there, acknowledged. */
  drain(topic: string, request?: Take): Promise<readonly QueueDelivery[]>;
  ack(delivery: QueueDelivery): Promise<unknown>;
  nack(delivery: QueueDelivery): Promise<unknown>;
  addDeadLetter(delivery: QueueDelivery, reason: string): Promise<unknown>;
  stream(
    topic: string,
    how: { fromBeginning: boolean; follow: boolean; signal?: AbortSignal },
  ): AsyncIterable<QueueMessage>;
}

interface Take {
  readonly group?: string;
  readonly messagesMax?: number;
  readonly visibilityMs?: number;
  readonly waitMs?: number;
  readonly deliveriesMax?: number;
}

export type Users = (tenant?: string) => QueueUser;

export const NEVER = new AbortController().signal;

export function userOf(port: QueuePort, tenant: string): QueueUser {
  const call = (id?: string) => write(tenant, { now: Date.now(), ...(id !== undefined && { id }) });
  const take: QueueUser['take'] = (topic, request = {}) => {
    const defaults = { group: '', messagesMax: 10, visibilityMs: 30_000, waitMs: 0 };
    return port.consume({ topic, ...defaults, ...request, signal: NEVER }, call());
  };
  const ack: QueueUser['ack'] = ({ handle }) => port.settle(handle, { kind: 'done' }, call());
  return {
    tenant,
    port,
    take,
    ack,
    async publish(topic, payload, id) {
      const draft = { topic, payload, headers: { kind: 'test' }, delayMs: 0 };
      return (await port.publish(draft, call(id))).messageId;
    },
    async takeOne(topic, request) {
      const [first] = await take(topic, { messagesMax: 1, waitMs: PATIENCE_MS, ...request });
      return first ?? assert.fail(`nothing came on ${topic}`);
    },
    async drain(topic, request) {
      const drained: QueueDelivery[] = [];
      for (;;) {
        const got = await take(topic, { messagesMax: 100, ...request });
        if (got.length === 0) return drained;
        await Promise.all(got.map(ack));
        drained.push(...got);
      }
    },
    nack: ({ handle }) => port.settle(handle, { kind: 'again', delayMs: 0 }, call()),
    addDeadLetter: ({ handle }, reason) => port.settle(handle, { kind: 'dead', reason }, call()),
    stream: (topic, how) => port.stream({ topic, signal: NEVER, ...how }, read(tenant, Date.now())),
  };
}

export const EXPIRED = { code: 'queue_delivery_token_expired' };
