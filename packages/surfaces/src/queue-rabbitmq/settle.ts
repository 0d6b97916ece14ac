/** What becomes of deliveries. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueOutcome, QueueSettled } from '../ports/queue.ts';
import { effective } from '../queue/choose.ts';
import { ALREADY_DEAD, isDeadLetterTopic } from '../queue/dead-letter.ts';
import { tokenExpired } from '../queue/errors.ts';
import { type Broker, bury, finish, giveBack, type Held } from './broker.ts';

export async function settle(
  broker: Broker,
  tenant: string,
  handle: string,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  const isOurs = handle.startsWith(broker.holder);
  if (broker.open.get(handle)?.tenant !== tenant) throw isOurs ? tokenExpired() : ofAnotherProcess();
  const settled = await broker.open.settle(handle, (held) => carryOut(broker, held, wanted));
  return settled ?? Promise.reject(tokenExpired());
}

const ofAnotherProcess = (): OpenwopError =>
  new OpenwopError('queue_delivery_token_expired', {
    message:
      'This process of the host has not delivered that message: with RabbitMQ a delivery token is good only in the ' +
      'process that consumed the message, until that process stops. Consume again; the message comes with a new ' +
      'token unless it is done with.',
  });

async function carryOut(broker: Broker, held: Held, wanted: QueueOutcome): Promise<QueueSettled> {
  const { topic, deliveryCount: count } = held;
  const outcome = effective(wanted, { topic, count, deliveriesMax: broker.bounds.deliveriesMax });
  const dead = outcome.kind === 'dead';
  if (dead && isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
  if (dead) await bury(broker, held, outcome.reason);
  if (outcome.kind !== 'again') await finish(broker, held);
  else if (outcome.delayMs === 0) giveBack(held);
  else setTimeout(() => giveBack(held), outcome.delayMs).unref();
  return { topic, dead };
}
