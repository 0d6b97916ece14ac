import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { queueContract } from '../ports/queue-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { EXPIRED, QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { freshTenant } from '../testing/calls.ts';
import { natsSkip, openTestNats } from '../testing/nats.ts';
import { openNatsQueue } from './queue.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };
const skip = { skip: natsSkip };
let server: ReturnType<typeof openTestNats> | null = null;
const url = async (): Promise<string> => {
  server ??= openTestNats();
  return (await server).url;
};
/** One server for the file. */
after(async () => (await server)?.stop());
const close = async (): Promise<void> => {};

queueContract(
  'NATS',
  async () => {
    const port = openNatsQueue(await url(), deps);
    return { port, close: () => port.close() };
  },
  skip,
);

queueOutageContract(
  'NATS',
  async () => ({ url: await url(), open: async (each) => openNatsQueue(each, deps), close }),
  skip,
);

test('another process can settle a delivery until its time is over', skip, async (t) => {
  const tenant = freshTenant();
  const ports = await Promise.all([1, 2].map(async () => openNatsQueue(await url(), deps)));
  t.after(() => Promise.all(ports.map((port) => port.close())));
  const [one, two] = ports.map((port) => userOf(port, tenant));
  assert.ok(one && two);
  await one.publish('t', 1);
  const delivery = await one.takeOne('t');
  await two.ack(delivery);
  await one.publish('t', 2);
  const short = await one.takeOne('t', { visibilityMs: 100 });
  await one.takeOne('t');
  await assert.rejects(two.ack(short), EXPIRED);
});

test('a server that is not there is named without its password', async () => {
  const port = openNatsQueue('nats://gantry:open-sesame@127.0.0.1:1', deps);
  await assert.rejects(port.health(), (error) => {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'queue_backend_unavailable');
    assert.match(error.message, /127\.0\.0\.1:1\b/);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});
