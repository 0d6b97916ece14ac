/** What only NATS can get wrong about room, and groups that it no longer has. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AckPolicy, DiscardPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { createCursors } from '../cursor.ts';
import type { QueuePort } from '../ports/queue.ts';
import { NEVER, QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { backendUnavailable } from '../queue/errors.ts';
import { implementQueue } from '../queue/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { deskOf, factsOf, nodeOf } from '../testing/desk.ts';
import { natsSkip, openTestNats } from '../testing/nats.ts';
import { consumerOf, streamOf, subjectOf } from './places.ts';
import { pull } from './pull.ts';
import { openNatsQueue } from './queue.ts';

const { quotaBytes } = QUEUE_CONTRACT_BOUNDS;
const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };

/** The server may write into the folder of a consumer while it deletes it, and says so; the consumer is gone then. */
async function removeConsumer({ consumers }: JetStreamManager, stream: string, name: string): Promise<void> {
  try {
    await consumers.delete(stream, name);
  } catch (error) {
    if (!(error instanceof Error && /directory not empty/.test(error.message))) throw error;
  }
}

describe('room in NATS', { skip: natsSkip }, () => {
  let server: Awaited<ReturnType<typeof openTestNats>>;
  let nats: NatsConnection;
  let manager: JetStreamManager;
  let ports: readonly QueuePort[] = [];
  before(async () => {
    server = await openTestNats();
    nats = await connect({ servers: new URL(server.url).host });
    manager = await jetstreamManager(nats);
    ports = [openNatsQueue(server.url, deps), openNatsQueue(server.url, deps)];
  });
  after(async () => {
    await Promise.all(ports.map((port) => port.close()));
    await nats?.close();
    await server?.stop();
  });
  const user = (tenant = freshTenant()) => userOf(ports[0]!, tenant);

  test('processes that publish at once do not pass the bound together', async () => {
    const users = ports.map((port) => userOf(port, 'both'));
    const text = 'x'.repeat(5_000);
    const tries = users.flatMap(({ publish }) => Array.from({ length: 20 }, () => publish('t', text)));
    const kept = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled').length;
    assert.ok(kept > 10 && kept * text.length <= quotaBytes, `${kept} were kept`);
    assert.equal((await users[0]!.drain('t')).length, kept);
  });

  test('a message that a full tenant publishes again is known, not refused', async () => {
    const { publish, drain } = user();
    await publish('t', 'first', 'same');
    await assert.rejects(
      async () => {
        for (;;) await publish('t', 'x'.repeat(9_000));
      },
      { message: /full/ },
    );
    await publish('t', 'first', 'same');
    await assert.rejects(publish('t', 'x'.repeat(9_000)), { message: /full/ });
    assert.equal((await drain('t')).filter(({ payload }) => payload === 'first').length, 1);
  });

  test('a node whose publish was not answered runs again and publishes the same message', async () => {
    const tenant = freshTenant();
    let isLost = true;
    const deaf: QueuePort = {
      ...ports[0]!,
      async publish(draft, call) {
        const answer = await ports[0]!.publish(draft, call);
        if (!isLost) return answer;
        isLost = false;
        throw backendUnavailable('NATS went away before it answered.');
      },
    };
    const world = deskOf([implementQueue({ port: deaf, cursors: createCursors(new Uint8Array(32)) })]);
    const run = () => nodeOf(world, factsOf({ tenant }))('queueBus.publish', { topic: 't', payload: 1 });
    await assert.rejects(run(), { code: 'queue_backend_unavailable' });
    await run();
    assert.equal((await user(tenant).drain('t')).length, 1);
  });

  test('a stream that the server bounds near the quota is relieved of it', async () => {
    const tenant = freshTenant();
    const [name, subjects] = [streamOf(tenant), [subjectOf(tenant, 't').replace(/[^.]+$/, '*')]];
    await manager.streams.add({ name, subjects, max_bytes: quotaBytes, discard: DiscardPolicy.New });
    await user(tenant).publish('t', 1);
    assert.equal((await manager.streams.info(name)).config.max_bytes, -1);
  });

  test('a stream that was deleted on the server is made again', async () => {
    const tenant = freshTenant();
    await user(tenant).publish('t', 1);
    await manager.streams.delete(streamOf(tenant));
    await user(tenant).publish('t', 2);
    assert.equal((await user(tenant).takeOne('t')).payload, 2);
  });

  test('so is a group, for those who wait for it', async () => {
    const tenant = freshTenant();
    const { publish, takeOne, ack } = user(tenant);
    await publish('t', 1);
    await ack(await takeOne('t'));
    const waiting = takeOne('t');
    const [stream, consumer] = [streamOf(tenant), consumerOf({ topic: 't', group: '' })];
    while ((await manager.consumers.info(stream, consumer)).num_waiting === 0);
    await removeConsumer(manager, stream, consumer);
    await publish('t', 2);
    assert.equal((await waiting).payload, 1, 'a new group begins with the oldest');
  });

  test('a group that too many wait for is there all the same', async () => {
    await manager.streams.add({ name: 'waiting', subjects: ['waiting'] });
    const config = { durable_name: 'one', ack_policy: AckPolicy.Explicit, max_waiting: 1 };
    await manager.consumers.add('waiting', config);
    const ask = (signal: AbortSignal) =>
      pull(
        { nats, manager, streams: manager.jetstream(), lost: NEVER },
        { stream: 'waiting', consumer: 'one', messagesMax: 1, atOnce: false, waitMs: 5_000, signal },
      );
    const ending = new AbortController();
    const first = ask(ending.signal);
    assert.deepEqual(await ask(NEVER), { kind: 'refused', reason: 'Exceeded MaxWaiting' });
    ending.abort();
    await first;
    const waiting = ask(NEVER);
    await removeConsumer(manager, 'waiting', 'one');
    assert.deepEqual(await waiting, { kind: 'gone' });
  });
});
