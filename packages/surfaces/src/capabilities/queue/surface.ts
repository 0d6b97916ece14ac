/** `ctx.queueBus`: topics with consumer groups, dead letters and streams. */
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import type { PortRead, WriteCall } from '../../calls/surface-call.ts';
import { type Over, onPostgres, opening, type PortLiteral } from '../../open-port.ts';
import type { QueueDelivery, QueueOutcome, QueuePort, QueueSettled } from '../../ports/queue.ts';
import { deadLetterTopicOf } from './dead-letter.ts';
import { type DeliveryTokens, deliveryTokens } from './delivery-token.ts';
import { embeddedQueue } from './embedded-queue.ts';
import { checkDraft, checkGroup, isPlainText } from './limits.ts';
import { QUEUE } from './spellings.ts';

type Texts = Readonly<Record<string, string>>;

const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  isPlainText(name) && typeof value === 'string';

/** TypeBox skips names with a line break: the pattern of its records ends at one. */
export const Headers = Type.Refine(
  Type.Record(Type.String(), Type.String()),
  (headers) => Object.entries(headers).every(isHeader),
  (headers) => {
    const [name = ''] = Object.entries(headers).find((each) => !isHeader(each)) ?? [];
    return `has the header ${JSON.stringify(name)}: names are text without control characters, values are text`;
  },
);

/** Headers that packs may see; messages of older hosts may have others. */
export const plainHeaders = (headers: Texts): Texts =>
  Object.fromEntries(Object.entries(headers).filter(isHeader));

const { optional } = s;
const Token = { deliveryToken: s.text(2_048) };
const Message = { messageId: s.Text, payload: s.Json, headers: optional(Headers) };

const VISIBILITY_MS = 30_000;
const VISIBILITY_MS_MAX = 900_000;
const DELIVERIES_MAX = 1_000;
const MESSAGES = 10;
const MESSAGES_MAX = 100;
const WAIT_MS_MAX = 20_000;

export const queuePort: PortLiteral<QueuePort> = {
  setting: 'queue',
  embedded: (deps) => embeddedQueue(deps.embedded, deps),
  servers: onPostgres(async (...of) => (await import('../../postgres/queue.ts')).postgresQueue(...of)),
};

export const queueSurface = defineSurface({
  capability: 'queueBus',
  spellings: QUEUE,
  summary:
    'Messages by topic, delivered at least once to every consumer group. Each tenant has topics of its own. A topic ' +
    'begins with its first message and ends when none of its messages is kept any more; reading one that is not there ' +
    'fails with `queue_topic_not_found`.',
  journal: 'own',
  opens: opening(queuePort, implementQueue, ({ kind, port, embedded }) => ({
    offers: { queue: port },
    sweep: async (now) => (kind === 'embedded' && !embedded.isInUse('queue') ? 0 : port.sweep(now)),
    close: () => port.close(),
  })),
  limits: {},
  options: {
    deadLetter: { summary: 'Dead letters.', advertises: { deadLetterSupported: true } },
    stream: {
      summary: 'Reading a topic as a stream.',
      advertises: { stream: { supported: true, fromBeginning: true } },
    },
    delay: {
      summary:
        'Messages that are delivered later: `delaySeconds`. Always there; packs may ask for it by this name.',
      advertises: {},
    },
  },
  errors: ['queue_topic_not_found', 'queue_delivery_token_expired', 'queue_backend_unavailable'],
  methods: {
    publish: writes(
      'Sends a message; with `delaySeconds` it is delivered no sooner.',
      {
        topic: s.Name,
        payload: s.Json,
        headers: optional(Headers),
        delaySeconds: optional(Type.Number({ minimum: 0, maximum: 86_400 })),
      },
      { messageId: s.Text },
    ),
    consume: writes(
      `Takes up to \`maxMessages\` (${MESSAGES}, at most ${MESSAGES_MAX}) that are there, for \`visibilityMs\` ` +
        `(${VISIBILITY_MS}), and no more than 4 MiB; waits for a first one for \`waitMs\` (0, at most ${WAIT_MS_MAX}). ` +
        'A new `consumerGroup` starts with the oldest message kept. With `maxDeliveries`, what was delivered to the group ' +
        'so often goes to `<topic>.dlq` instead; without it messages come again until they are settled.',
      {
        topic: s.Name,
        consumerGroup: optional(s.Name),
        maxMessages: optional(Type.Integer({ minimum: 1 })),
        visibilityMs: optional(s.whole(1, VISIBILITY_MS_MAX)),
        waitMs: optional(s.Count),
        maxDeliveries: optional(s.whole(1, DELIVERIES_MAX)),
      },
      { messages: s.listOf({ ...Message, deliveryToken: s.Text, deliveryCount: s.Whole }) },
    ),
    ack: writes('Acknowledges a message: its group does not receive it again.', Token, s.Done),
    nack: writes(
      'Gives a message back for another delivery. With `requeue: false` it is given up: its group does not get it again, ' +
        'and it goes to `<topic>.dlq`, which every topic has.',
      { ...Token, requeue: optional(s.Flag) },
      { ...s.Done, requeued: s.Flag },
    ),
    deadLetter: writes(
      'Puts a message into `<topic>.dlq`, as `original` beside `deadLetterReason`.',
      { ...Token, reason: Type.String({ maxLength: 1_024 }) },
      { ...s.Done, deadLetterTopic: s.Text },
      { needs: 'deadLetter' },
    ),
    streamSubscribe: reads(
      'Messages as they come, first those that are kept with `fromBeginning`; other readers still get them. ' +
        'With `follow: false` it ends with what is there.',
      { topic: s.Name, fromBeginning: optional(s.Flag), follow: optional(s.Flag) },
      Message,
      { kind: 'stream', needs: 'stream' },
    ),
  },
});

export function implementQueue({ port, cursors }: Over<QueuePort>): ImplementedSurface {
  const tokens = deliveryTokens(cursors);
  const settle = settling(port, tokens);
  return queueSurface.implement({
    async publish({ topic, payload, headers = {}, delaySeconds = 0 }, call) {
      const draft = { topic, payload, headers, delayMs: Math.ceil(delaySeconds * 1_000) };
      checkDraft(draft);
      return port.publish(draft, call);
    },
    async consume({ topic, consumerGroup: group = '', ...asked }, call) {
      checkGroup({ topic, group });
      const { maxMessages = MESSAGES, visibilityMs = VISIBILITY_MS, waitMs: asMuch = 0 } = asked;
      const [messagesMax, waitMs] = [Math.min(maxMessages, MESSAGES_MAX), Math.min(asMuch, WAIT_MS_MAX)];
      const { maxDeliveries: deliveriesMax } = asked;
      const { signal } = call;
      const request = { topic, group, messagesMax, visibilityMs, deliveriesMax, waitMs, signal };
      const deliveries = await port.consume(request, call);
      if (deliveries.length === 0) await checkTopic(port, topic, call);
      return { messages: deliveries.map((delivery) => shown(tokens, call.tenant, delivery)) };
    },
    async ack({ deliveryToken }, call) {
      const token = tokens.open(call.tenant, deliveryToken);
      if (token.kind === 'delivery') await port.settle(token.handle, { kind: 'done' }, call);
      return { ok: true };
    },
    async nack({ deliveryToken, requeue = true }, call) {
      const outcome: QueueOutcome = requeue
        ? { kind: 'again', delayMs: 0 }
        : { kind: 'dead', reason: 'rejected' };
      const { dead } = await settle(deliveryToken, outcome, call);
      return { ok: true, requeued: !dead };
    },
    async deadLetter({ deliveryToken, reason }, call) {
      const { topic } = await settle(deliveryToken, { kind: 'dead', reason }, call);
      return { ok: true, deadLetterTopic: deadLetterTopicOf(topic) };
    },
    async *streamSubscribe({ topic, fromBeginning = false, follow = true }, call) {
      checkGroup({ topic, group: '' });
      const { signal } = call;
      // A reader that follows waits for new messages
      if (!follow) await checkTopic(port, topic, call);
      for await (const { messageId, payload, headers } of port.stream(
        { topic, fromBeginning, follow, signal },
        call,
      ))
        yield { messageId, payload, headers: plainHeaders(headers) };
    },
  });
}

/** A misspelled topic would look empty forever. */
async function checkTopic(port: QueuePort, topic: string, call: PortRead): Promise<void> {
  if (await port.hasTopic(topic, call)) return;
  throw new OpenwopError('queue_topic_not_found', { details: { topic } });
}

function settling(port: QueuePort, tokens: DeliveryTokens) {
  return async (token: string, outcome: QueueOutcome, call: WriteCall): Promise<QueueSettled> => {
    const opened = tokens.open(call.tenant, token);
    if (opened.kind === 'receipt') throw alreadyAccepted();
    return port.settle(opened.handle, outcome, call);
  };
}

const shown = (tokens: DeliveryTokens, tenant: string, { handle, ...delivery }: QueueDelivery) => ({
  messageId: delivery.messageId,
  payload: delivery.payload,
  headers: plainHeaders(delivery.headers),
  deliveryCount: delivery.deliveryCount,
  deliveryToken: tokens.seal(tenant, handle),
});

const alreadyAccepted = (): OpenwopError =>
  new OpenwopError('queue_delivery_token_expired', {
    message:
      'This message was acknowledged when it started the run. Publish its payload again, to the topic or to its ' +
      'dead letters, instead of giving it back.',
  });
