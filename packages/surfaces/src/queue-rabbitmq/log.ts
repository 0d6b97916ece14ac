/** A log: a RabbitMQ stream, which keeps what was read. */
import { randomUUID } from 'node:crypto';
import type { Channel, ConsumeMessage } from 'amqplib';
import { close } from './channel.ts';
import { MARK } from './log-writers.ts';
import type { RabbitSession } from './session.ts';

const AHEAD = 50;
const MS = 1_000;

export type LogStart = 'first' | 'next' | number;

export interface LogEntry {
  readonly offset: number;
  readonly messageId: string;
  /** In milliseconds, to the second. */
  readonly at: number;
  readonly body: Buffer;
}

export interface LogRange {
  readonly start: LogStart;
  /** Ends with this mark. */
  readonly end?: string;
  readonly signal: AbortSignal;
}

/** Ends with the signal; rejects when the connection is lost. Values wait for their reader, no more than `AHEAD`. */
export async function* readLog(
  { connection }: RabbitSession,
  log: string,
  { start, end, signal }: LogRange,
): AsyncGenerator<LogEntry> {
  const channel = await connection.createChannel();
  const inbox = new Inbox();
  const stop = (): void => inbox.end(null);
  channel
    .on('error', (error) => inbox.end(error))
    .on('close', () => inbox.end(new Error('the channel was closed')));
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) return;
    await channel.prefetch(AHEAD);
    await channel.consume(log, (message) => inbox.add(message), { arguments: { 'x-stream-offset': start } });
    yield* entries(channel, inbox, end);
  } finally {
    signal.removeEventListener('abort', stop);
    inbox.end(null);
    await close(channel);
  }
}

async function* entries(channel: Channel, inbox: Inbox, end: string | undefined): AsyncGenerator<LogEntry> {
  for (;;) {
    const message = await inbox.next();
    if (message === null) return;
    channel.ack(message);
    const { messageId, headers, timestamp } = message.properties;
    if (end !== undefined && messageId === end) return;
    const [offset, at] = [Number(headers?.['x-stream-offset']), Number(timestamp ?? 0) * MS];
    yield { offset, messageId: String(messageId), at, body: message.content };
  }
}

/** When a message is published, as RabbitMQ writes it. */
export const timestampOf = (now: number): number => Math.floor(now / MS);

/** A mark in the log that readers of messages pass over: all before it was there when it was set. */
export async function markEnd(session: RabbitSession, log: string): Promise<string> {
  const messageId = randomUUID();
  await append(session, log, { messageId, body: MARK });
  return messageId;
}

export const append = (
  { logs }: RabbitSession,
  log: string,
  { messageId, body }: { readonly messageId: string; readonly body: Buffer },
): Promise<void> => logs.write(log, { exchange: '', key: log, body, options: { messageId } });

class Inbox {
  readonly #messages: ConsumeMessage[] = [];
  #ended: { readonly error: Error | null } | null = null;
  #wake: () => void = () => {};

  /** The server says null when the queue is gone. */
  add(message: ConsumeMessage | null): void {
    if (message === null) this.end(new Error('the log was deleted'));
    else this.#messages.push(message);
    this.#wake();
  }

  end(error: Error | null): void {
    this.#ended ??= { error };
    this.#wake();
  }

  async next(): Promise<ConsumeMessage | null> {
    for (;;) {
      if (this.#ended?.error === null) return null;
      const message = this.#messages.shift();
      if (message) return message;
      if (this.#ended?.error) throw this.#ended.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
