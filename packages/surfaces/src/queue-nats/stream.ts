/** A topic in NATS read as a stream: an ordered consumer of the reader's own. */
import { DeliverPolicy, JetStreamApiCodes } from '@nats-io/jetstream';
import type { QueueMessage, QueueReading } from '../ports/queue.ts';
import { fromBody } from '../queue/envelope.ts';
import type { NatsLink, NatsSession } from './connection.ts';
import { apiCodeOf } from './errors.ts';

const AHEAD = 50;

export interface StreamPlace {
  readonly stream: string;
  readonly subject: string;
}

export async function* readStream(
  link: NatsLink,
  { stream, subject }: StreamPlace,
  { fromBeginning, follow, signal }: QueueReading,
): AsyncGenerator<QueueMessage> {
  const last = follow
    ? Number.POSITIVE_INFINITY
    : await link.use((session) => lastSeq(session, { stream, subject }));
  if (last === 0 || (!follow && !fromBeginning)) return;
  const policy = fromBeginning ? DeliverPolicy.All : DeliverPolicy.New;
  const messages = await link.use(async ({ streams }) => {
    const consumer = await streams.consumers.get(stream, {
      filter_subjects: subject,
      deliver_policy: policy,
    });
    return consumer.consume({ max_messages: AHEAD });
  });
  const stop = (): void => void messages.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) return;
    for await (const { data, seq } of messages) {
      const message = fromBody(data);
      if (message) yield message;
      if (seq >= last) return;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** 0 when there is none. */
async function lastSeq({ manager }: NatsSession, { stream, subject }: StreamPlace): Promise<number> {
  try {
    return (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.seq ?? 0;
  } catch (error) {
    if (apiCodeOf(error) === JetStreamApiCodes.NoMessageFound) return 0;
    throw error;
  }
}
