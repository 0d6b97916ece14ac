import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { absentServer, absentServerTest, openWorld } from '../testing/absent-server.ts';
import { freshTenant, write } from '../testing/calls.ts';
import { natsSkip, openTestNats } from '../testing/nats.ts';
import { openTestRabbit, rabbitSkip } from '../testing/rabbitmq.ts';

let rabbit: ReturnType<typeof openTestRabbit> | null = null;
/** One server for the file: it takes seconds to start. */
const rabbitUrl = async (): Promise<string> => {
  rabbit ??= openTestRabbit();
  return (await rabbit).url;
};
after(async () => (await rabbit)?.stop());

const natsUrl = async (t: { after(work: () => Promise<void>): void }): Promise<string> => {
  const server = await openTestNats();
  t.after(server.stop);
  return server.url;
};

const SERVERS = [
  { name: 'NATS', skip: natsSkip, url: natsUrl },
  { name: 'RabbitMQ', skip: rabbitSkip, url: rabbitUrl },
];

for (const { name, skip, url } of SERVERS) {
  absentServerTest(name, {
    skip,
    url,
    settings: (server) => ({ queue: server.url }),
    calls: { queueBus: (call) => call('queueBus.publish', { topic: 't', payload: 1 }) },
  });

  test(`${name}: a subscription hears its first message when the server has come`, { skip }, async (t) => {
    const server = await absentServer(await url(t));
    const { opened, told } = await openWorld(t, { queue: server.url }, server);
    const tenant = freshTenant();
    const { promise: heard, resolve } = Promise.withResolvers<unknown>();
    const subscription = opened.queue.subscribe({ tenant, topic: 't', group: '' }, async ({ payload }) =>
      resolve(payload),
    );
    await assert.rejects(opened.queue.health(), { code: 'queue_backend_unavailable' });
    await server.appear();
    await opened.queue.publish({ topic: 't', payload: 'first', headers: {}, delayMs: 0 }, write(tenant));
    assert.equal(await heard, 'first');
    assert.equal(told.length, 1, 'attempts are not told one by one');
    await subscription.close();
  });
}

test('a password that RabbitMQ refuses stops the start', { skip: rabbitSkip }, async (t) => {
  const url = new URL(await rabbitUrl());
  url.password = 'open-sesame';
  await assert.rejects(openWorld(t, { queue: url.href }), ({ message }: Error) => {
    assert.match(message, /^GANTRY_QUEUE: RabbitMQ at .* refuses the user or the password/);
    assert.doesNotMatch(message, /open-sesame/);
    return true;
  });
});
