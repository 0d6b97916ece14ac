/** What becomes of deliveries. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueMessage, QueueOutcome, QueueSettled } from '../ports/queue.ts';
import { effective } from '../queue/choose.ts';
import { ALREADY_DEAD, isDeadLetterTopic } from '../queue/dead-letter.ts';
import { fromBody } from '../queue/envelope.ts';
import { tokenExpired } from '../queue/errors.ts';
import { pause } from '../queue/pause.ts';
import { type Broker, bury, tell } from './broker.ts';
import type { NatsLink } from './connection.ts';
import { type NatsHandle, readHandle } from './handle.ts';
import { ACK_WAIT_MS, streamOf } from './places.ts';
import { type AckFacts, readAck } from './pull.ts';

/** Only who delivered it knows whether it was settled; others go by its time. */
export async function settle(
  broker: Broker,
  tenant: string,
  handle: string,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  const parts = readHandle(handle);
  const ack = parts && readAck(parts.reply);
  if (!parts || ack?.stream !== streamOf(tenant)) throw tokenExpired();
  const work = () => carryOut(broker, tenant, { ...parts, ...ack }, wanted);
  const isOurs = parts.holder === broker.holder;
  if (!isOurs && parts.visibleUntil <= broker.now()) throw tokenExpired();
  const settled = isOurs ? await broker.open.settle(handle, work) : await work();
  return settled ?? Promise.reject(tokenExpired());
}

async function carryOut(
  broker: Broker,
  tenant: string,
  delivery: NatsHandle & AckFacts,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  const { reply, topic, group, deliveryCount } = delivery;
  const { deliveriesMax } = broker.bounds;
  const outcome = effective(wanted, { topic, count: deliveryCount, deliveriesMax });
  const dead = outcome.kind === 'dead';
  if (dead && isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
  if (dead) {
    const about = { topic, group, deliveryCount, reason: outcome.reason };
    await bury(broker, tenant, await stored(broker, delivery), about);
  }
  const word = outcome.kind === 'again' ? `-NAK {"delay": ${outcome.delayMs * 1_000_000}}` : '+ACK';
  await tell(broker.link, reply, word);
  return { topic, dead };
}

async function stored(
  { link }: Broker,
  { stream, seq }: { stream: string; seq: number },
): Promise<QueueMessage> {
  const found = await link.use(({ manager }) => manager.streams.getMessage(stream, { seq }));
  const message = found && fromBody(found.data);
  if (!message) throw tokenExpired();
  return message;
}

const AGAIN_MS = 500;

/** Through an outage; after `ACK_WAIT_MS` the server delivers it again without being told. */
export async function giveBack(link: NatsLink, reply: string, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + ACK_WAIT_MS; performance.now() < until && !signal.aborted; ) {
    try {
      await tell(link, reply, '-NAK');
      return;
    } catch {
      await pause(AGAIN_MS, signal);
    }
  }
}

/** Those that cannot be told now are told the next time. */
export async function extend(link: NatsLink, held: readonly NatsHandle[]): Promise<void> {
  if (held.length === 0) return;
  const telling = link.use(async ({ nats }) => {
    for (const { reply } of held) nats.publish(reply, '+WPI');
  });
  await telling.catch(() => {});
}
