/** What every backend in another process must do when it goes away and comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { createCursors } from '../calls/cursor.ts';
import { implementQueue } from '../capabilities/queue/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import type { QueueDelivery, QueuePort } from './queue.ts';
import { userOf } from './queue-user-contract.ts';

export interface OutageBackend {
  readonly url: string;
  open(url: string): Promise<QueuePort>;
  close(): Promise<void>;
}

export function queueOutageContract(
  name: string,
  start: () => Promise<OutageBackend>,
  options: { readonly skip?: string | false },
): void {
  test(`queue port: ${name} goes away and comes back`, options, async (t) => {
    const backend = await start();
    t.after(() => backend.close());
    const url = new URL(backend.url);
    const gate = await openGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const port = await backend.open(url.href);
    t.after(async () => {
      await port.close();
      await gate.close();
    });
    const user = userOf(port, freshTenant());
    const { seen, arrival } = inbox();
    const subscription = port.subscribe({ tenant: user.tenant, topic: 't', group: '' }, async (message) => {
      seen(message);
    });
    await user.publish('t', 'before');
    assert.equal((await arrival()).payload, 'before');
    const held = user.publish('held', 1).then(() => user.takeOne('held', { visibilityMs: 1_000 }));
    const first = await held;
    await gate.shut();
    const unavailable = {
      code: 'queue_backend_unavailable',
      message: new RegExp(`${url.hostname}:${url.port}`),
    };
    await assert.rejects(user.take('t'), unavailable);
    await assert.rejects(user.publish('t', 'lost'), unavailable);
    await assert.rejects(port.health(), unavailable);
    await packsLearnNoAddress(port, url);
    await gate.reopen();
    await port.health();
    await user.publish('t', 'after');
    assert.equal((await arrival()).payload, 'after');
    const again = await user.takeOne('held');
    assert.deepEqual(
      [again.messageId, again.deliveryCount],
      [first.messageId, 2],
      'what was held comes again',
    );
    await subscription.close();
  });
}

/** The operator does, from the log and from health. */
async function packsLearnNoAddress(port: QueuePort, { hostname, port: number }: URL): Promise<void> {
  const world = callGateOf([implementQueue({ port, cursors: createCursors(new Uint8Array(32)) })]);
  for (const path of ['queueBus.publish', 'queueBus.consume']) {
    const input = { topic: 't', ...(path === 'queueBus.publish' && { payload: 1 }) };
    await assert.rejects(nodeOf(world, { nodeId: path })(path, input), (error) => {
      assert.ok(error instanceof OpenwopError && error.code === 'queue_backend_unavailable');
      assert.doesNotMatch(
        `${error.message} ${JSON.stringify(error.details)}`,
        new RegExp(`${hostname}|${number}`),
      );
      return true;
    });
  }
}

function inbox() {
  const waiting: ((message: QueueDelivery) => void)[] = [];
  const arrived: QueueDelivery[] = [];
  return {
    seen(message: QueueDelivery): void {
      const next = waiting.shift();
      if (next) next(message);
      else arrived.push(message);
    },
    arrival: (): Promise<QueueDelivery> => {
      const first = arrived.shift();
      return first ? Promise.resolve(first) : new Promise((resolve) => void waiting.push(resolve));
    },
  };
}
