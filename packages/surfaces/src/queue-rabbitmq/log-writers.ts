/**
 * Writes to logs (RabbitMQ streams), to each by a channel of its own.
 *
 * A channel has messages of one log alone. When a log gets a new leader, RabbitMQ sends again what is not confirmed;
 * before 4.0 it does so by the numbers that messages have on their channel, instead of those that they have in the log
 * (rabbitmq-server #12236). Where these differ, messages are never confirmed, and later ones are taken for repeated:
 * they are confirmed and thrown away.
 */
import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import { backendUnavailable } from '../queue/errors.ts';
import { close } from './channel.ts';

export interface Parcel {
  /** Empty for the log itself, which `key` names then. */
  readonly exchange: string;
  readonly key: string;
  readonly body: Buffer;
  readonly options: Options.Publish;
}

/** Readers pass over it. */
export const MARK = Buffer.from('mark');
/** A server has 2,047 channels for a connection by default. */
const WRITERS_MAX = 500;

export class LogWriters {
  readonly #connection: ChannelModel;
  readonly #onLost: () => void;
  /** Who was used last is last. */
  readonly #writers = new Map<string, LogWriter>();
  readonly #writersMax: number;

  /** `onLost`: a channel has ended by itself, so something is wrong with its log. */
  constructor(connection: ChannelModel, onLost: () => void, writersMax = WRITERS_MAX) {
    this.#connection = connection;
    this.#onLost = onLost;
    this.#writersMax = writersMax;
  }

  /** Resolves when it is confirmed. `onSent`: from now on only that tells whether the server has it. */
  async write(log: string, parcel: Parcel, onSent: () => void = () => {}): Promise<void> {
    const writer = this.#writers.get(log) ?? new LogWriter(this.#open(log), this.#onLost);
    this.#writers.delete(log);
    this.#writers.set(log, writer);
    await writer.write(parcel, onSent);
  }

  async #open(log: string): Promise<ConfirmChannel> {
    try {
      if (this.#writers.size >= this.#writersMax) await this.#makeRoom();
      return await this.#connection.createConfirmChannel();
    } catch (error) {
      this.#writers.delete(log);
      throw error;
    }
  }

  async #makeRoom(): Promise<void> {
    const [log, writer] = [...this.#writers].find(([, each]) => each.isIdle) ?? [];
    if (log === undefined)
      throw backendUnavailable('Too many topics are published to at once. Try again later.');
    this.#writers.delete(log);
    await writer?.close();
  }
}

class LogWriter {
  readonly #channel: Promise<ConfirmChannel>;
  readonly #onLost: () => void;
  #unconfirmed = 0;

  constructor(opening: Promise<ConfirmChannel>, onLost: () => void) {
    this.#onLost = onLost;
    this.#channel = opening.then((channel) => channel.on('error', () => {}).on('close', onLost));
  }

  get isIdle(): boolean {
    return this.#unconfirmed === 0;
  }

  async write(parcel: Parcel, onSent: () => void): Promise<void> {
    this.#unconfirmed++;
    try {
      const channel = await this.#channel;
      const confirmed = publish(channel, parcel);
      onSent();
      await confirmed;
    } finally {
      this.#unconfirmed--;
    }
  }

  async close(): Promise<void> {
    const channel = await this.#channel;
    await close(channel.off('close', this.#onLost));
  }
}

/** Throws, rather than rejects, when nothing can be sent. */
export function publish(channel: ConfirmChannel, { exchange, key, body, options }: Parcel): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  channel.publish(exchange, key, body, options, (refused: unknown) =>
    refused ? reject(refused) : resolve(),
  );
  return promise;
}
