/**
 * A connection to RabbitMQ and its channels.
 *
 * S1  A session is lost once: when its connection or a channel of all ends, or when it is left. From then on nobody
 *     gets it, whatever becomes of the connection.
 * S2  Who leaves waits for the server only a moment. It says that a connection is closed when all its channels have
 *     ended, and one that waits for a queue without a leader does not end; heartbeats go on meanwhile.
 */

import { randomUUID } from 'node:crypto';
import { type Channel, type ChannelModel, type ConfirmChannel, connect, type SocketOptions } from 'amqplib';
import { Line } from '../line.ts';
import type { RabbitAddress } from './address.ts';
import { answered } from './answered.ts';
import { close } from './channel.ts';
import { isMissing } from './errors.ts';
import { LogWriters } from './log-writers.ts';

export interface RabbitSession {
  readonly connection: ChannelModel;
  /** Of what goes into queues, not into logs. */
  readonly confirms: ConfirmChannel;
  /** Of consumers that do not wait. */
  readonly gets: Channel;
  /** Of all that wait: a server has few channels for a connection. */
  readonly waits: Channel;
  readonly logs: LogWriters;
  /** For those who need a channel of their own for a moment. */
  readonly line: Line;
  /** What is known to be there, by name; forgotten with the session. */
  readonly known: Map<string, Promise<void>>;
  /** S1. */
  readonly lost: AbortSignal;
  /** S2. */
  leave(): Promise<void>;
}

/** Of each that waits, not of their channel together. */
export const WAITING_PREFETCH = 1;
/** Of those that are opened for a moment. Servers have 2,047 for a connection by default. */
const CHANNELS_MAX = 64;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

export async function openSession(address: RabbitAddress, onLost: () => void): Promise<RabbitSession> {
  const cut = new AbortController();
  try {
    return await answered(CONNECT_TIMEOUT_MS, begin(address, cut, onLost));
  } catch (error) {
    cut.abort();
    throw error;
  }
}

/** `cut` ends the socket. */
async function begin(
  { url, login }: RabbitAddress,
  cut: AbortController,
  onLost: () => void,
): Promise<RabbitSession> {
  // The types of the driver leave out what its sockets take
  const socket: SocketOptions & { readonly signal: AbortSignal } = { ...login, signal: cut.signal };
  const connection = await connect(url, socket);
  // What ends a connection or a channel is told to those who wait for it
  connection.on('error', () => {});
  await assertRights(connection);
  const [confirms, gets, waits] = await Promise.all([
    connection.createConfirmChannel(),
    connection.createChannel(),
    connection.createChannel(),
  ]);
  const { lost, leave } = endOf(connection, cut, onLost);
  const onClose = (): void => void leave();
  for (const channel of [confirms, gets, waits]) channel.on('error', () => {}).on('close', onClose);
  await waits.prefetch(WAITING_PREFETCH);
  const logs = new LogWriters(connection, onClose);
  const line = new Line(CHANNELS_MAX);
  return { connection, confirms, gets, waits, logs, line, known: new Map(), lost, leave };
}

/** Who may not make a queue and read it is told so before anybody asks for a topic. It goes with the connection. */
async function assertRights(connection: ChannelModel): Promise<void> {
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  const name = `gantry.queue.rights.${randomUUID()}`;
  const { queue } = await channel.assertQueue(name, { exclusive: true, durable: false, autoDelete: true });
  await channel.get(queue, { noAck: true });
  await channel.deleteQueue(queue);
  await close(channel);
}

function endOf(
  connection: ChannelModel,
  cut: AbortController,
  onLost: () => void,
): Pick<RabbitSession, 'lost' | 'leave'> {
  const ending = new AbortController();
  const closed = new Promise<void>((resolve) => connection.once('close', () => resolve()));
  const lose = (): void => {
    if (ending.signal.aborted) return;
    ending.abort();
    onLost();
  };
  connection.once('close', () => {
    lose();
    // A peer that is gone does not end its half of the socket
    cut.abort();
  });
  return {
    lost: ending.signal,
    async leave() {
      if (ending.signal.aborted) return;
      lose();
      const closing = Promise.race([closed, connection.close()]);
      await answered(CLOSE_TIMEOUT_MS, closing).catch(() => cut.abort());
    },
  };
}

/** A refused declaration ends its channel, so each has one of its own. */
export async function onChannel<T>(
  { connection, line }: RabbitSession,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  return line.inTurn(async () => {
    const channel = await connection.createChannel();
    const failed = new Promise<never>((_resolve, reject) => channel.once('error', reject));
    failed.catch(() => {});
    try {
      return await Promise.race([work(channel), failed]);
    } finally {
      await close(channel);
    }
  });
}

export async function exists(
  session: RabbitSession,
  check: (channel: Channel) => Promise<unknown>,
): Promise<boolean> {
  try {
    await onChannel(session, check);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
