/** NATS and RabbitMQ from this machine, and their own clients. */
import type { ConfirmChannel } from 'amqplib';
import type { OpenedBackend } from './surfaces-backends.ts';
import { BATCH, CALLS, TEXT } from './surfaces-works.ts';

const PAYLOAD = JSON.stringify({ text: TEXT });
const { lanes: LANES } = CALLS['queue publish to ack'];

export async function openNats(): Promise<OpenedBackend> {
  const { natsSkip, openTestNats } = await import('../packages/surfaces/src/testing/nats.ts');
  if (natsSkip) throw new Error(natsSkip);
  const server = await openTestNats();
  const { connect } = await import('@nats-io/transport-node');
  const { AckPolicy, jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const nats = await connect({ servers: new URL(server.url).host });
  const manager = await jetstreamManager(nats);
  const streams = jetstream(nats);
  await manager.streams.add({ name: 'direct', subjects: ['direct.*'] });
  const consumers = await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const name = `lane-${lane}`;
      const facts = { durable_name: name, filter_subject: `direct.${lane}`, ack_policy: AckPolicy.Explicit };
      await manager.consumers.add('direct', facts);
      return streams.consumers.get('direct', name);
    }),
  );
  return {
    settings: { queue: server.url },
    works: {
      'queue publish to ack': async (lane) => {
        const publish = () => streams.publish(`direct.${lane}`, PAYLOAD);
        await Promise.all(Array.from({ length: BATCH }, publish));
        const messages = await consumers[lane]!.fetch({ max_messages: BATCH });
        const settled: Promise<unknown>[] = [];
        for await (const message of messages) settled.push(message.ackAck());
        await Promise.all(settled);
        return BATCH;
      },
    },
    async close() {
      await nats.close();
      await server.stop();
    },
  };
}

/** Resolves when the server has it. */
const publish = (channel: ConfirmChannel, queue: string): Promise<void> =>
  new Promise((resolve, reject) => {
    channel.sendToQueue(queue, Buffer.from(PAYLOAD), { persistent: true }, (error) =>
      error ? reject(error) : resolve(),
    );
  });

export async function openRabbit(): Promise<OpenedBackend> {
  const { openTestRabbit, rabbitSkip } = await import('../packages/surfaces/src/testing/rabbitmq.ts');
  if (rabbitSkip) throw new Error(rabbitSkip);
  const server = await openTestRabbit();
  const { connect } = await import('amqplib');
  const connection = await connect(server.url);
  const channel = await connection.createConfirmChannel();
  for (let lane = 0; lane < LANES; lane++)
    await channel.assertQueue(`direct-${lane}`, { arguments: { 'x-queue-type': 'quorum' } });
  return {
    settings: { queue: server.url },
    works: {
      'queue publish to ack': async (lane) => {
        const queue = `direct-${lane}`;
        await Promise.all(Array.from({ length: BATCH }, () => publish(channel, queue)));
        const taken = await Promise.all(Array.from({ length: BATCH }, () => channel.get(queue)));
        for (const message of taken) if (message) channel.ack(message);
        return BATCH;
      },
    },
    async close() {
      await connection.close();
      await server.stop();
    },
  };
}
