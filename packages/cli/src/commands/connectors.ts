import {
  CONNECTOR_TYPES,
  type Connector,
  type CreateConnectorRequest,
  connectorsWire,
  given,
  MESSAGE_STATES,
  type MessageDelivery,
} from '@gantry/protocol';
import { type Call, option } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { print } from '../output.ts';
import { resourceCommand, sentColumns } from '../resource-command.ts';
import { printable } from '../style.ts';
import { readChoice } from '../values.ts';

/** `100/60`: 100 messages in any 60 seconds. */
function rateOf({ args }: Call): Pick<CreateConnectorRequest, 'rateLimit'> {
  const text = args.text('rate');
  if (text === undefined) return {};
  const [, requests, perSeconds] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (requests === undefined)
    throw new UsageError(`--rate takes MESSAGES/SECONDS such as 100/60, not "${text}".`);
  return { rateLimit: { requests: Number(requests), perSeconds: Number(perSeconds) } };
}

function wanted(call: Call, connectorId: string): CreateConnectorRequest {
  const { args } = call;
  const type = readChoice(args.text('type'), { known: CONNECTOR_TYPES, noun: 'type' });
  if (!type) throw new UsageError(`Name a --type: ${CONNECTOR_TYPES.join(', ')}.`);
  const tls = readChoice(args.text('tls'), { known: ['none'], noun: 'choice' });
  const channels = args.list('channel');
  return {
    connectorId,
    type,
    ...args.given('from', 'subject', 'credential'),
    ...given({ url: args.text('to'), tls }),
    ...(channels.length > 0 && { channels: [...channels] }),
    ...rateOf(call),
  };
}

export const connectors = resourceCommand<Connector, MessageDelivery>(connectorsWire, {
  summary: 'send messages of runs by mail, Slack or HTTP',
  details:
    'Nodes name a connector as connectorInstanceId. Messages are stored durably and sent with retries.\n' +
    'A credential of a mail server is of the kind basic (user:password); that of slack is the address of the webhook.',
  listed: 50,
  columns: {
    CONNECTOR: 'connectorId',
    STATE: ({ state, problem = '' }) => `${state} ${problem}`.trim(),
    TYPE: 'type',
    CHANNELS: ({ channels = ['all'] }) => channels.join(','),
    RATE: ({ rateLimit: rate }) => (rate ? `${rate.requests}/${rate.perSeconds}` : ''),
    CREDENTIAL: 'credential',
    URL: 'url',
  },
  none: 'No connectors yet. Add one: gantry connectors add ops --type slack --credential REF',
  add: {
    takes: '<connectorId>',
    async act(call, connectorId = '') {
      const made = await call.client.connectors.create(wanted(call, connectorId));
      print(call, made, `${made.connectorId} added. Check it: gantry connectors check ${made.connectorId}\n`);
    },
  },
  deliveries: {
    states: MESSAGE_STATES,
    columns: sentColumns({ CHANNEL: 'channel', RUN: 'runId' }),
    none: 'No messages match.',
  },
  actions: {
    check: {
      takes: '<connectorId>',
      async act(call, connectorId = '') {
        const { ok, detail, next } = await call.client.connectors.check(connectorId, {});
        const text = [`${ok ? 'ok' : 'fail'} ${printable(detail)}`, ...(next ? [`Next: ${next}`] : [])];
        print(call, { ok, detail, next }, `${text.join('\n')}\n`);
        return ok ? EXIT.ok : EXIT.failed;
      },
    },
    resend: {
      takes: '<connectorId> <deliveryId>',
      async act(call, connectorId = '', deliveryId = '') {
        const sent = await call.client.connectors.resend(connectorId, { deliveryId });
        print(call, sent, `${sent.deliveryId} ${sent.state}\n`);
      },
    },
  },
  options: {
    type: option('T', CONNECTOR_TYPES.join(', '), { of: ['add'] }),
    to: option('URL', 'smtps://HOST, smtp://HOST (STARTTLS) or https://...; not for slack', { of: ['add'] }),
    from: option('ADDRESS', 'the sender of mail', { of: ['add'] }),
    subject: option('TEXT', 'the subject of mail; else the first line of the text', { of: ['add'] }),
    tls: option('none', 'a mail relay without encryption, which the operator has to open', { of: ['add'] }),
    credential: option('REF', 'a credential of `gantry credentials`', { of: ['add'] }),
    channel: option('NAME', 'a channel that it serves (email, slack; all for http); may be repeated', {
      of: ['add'],
      multiple: true,
    }),
    rate: option('N/S', 'at most N messages in any S seconds', { of: ['add'] }),
  },
  examples: [
    'gantry connectors add mail --type smtp --to smtps://mail.example.com --from ops@example.com --credential mail-login',
    'gantry connectors check mail',
    'gantry connectors deliveries mail --state dead',
  ],
});
