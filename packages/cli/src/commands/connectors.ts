import {
  CONNECTOR_TYPES,
  type Connector,
  type CreateConnectorRequest,
  MESSAGE_STATES,
} from '@gantry/protocol';
import { type Call, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { ago, print, printJson, printListing } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';
import { readChoice } from '../values.ts';

const LISTED = 50;

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
  const url = args.text('to');
  return {
    connectorId,
    type,
    ...args.given('from', 'subject', 'credential'),
    ...(url !== undefined && { url }),
    ...(tls && { tls }),
    ...(channels.length > 0 && { channels: [...channels] }),
    ...rateOf(call),
  };
}

export const connectors = resourceCommand<Connector>({
  name: 'connectors',
  id: 'connectorId',
  summary: 'send messages of runs by mail, Slack or HTTP',
  details:
    'Nodes name a connector as connectorInstanceId. What they hand over is kept on disk and sent with retries.\n' +
    'A credential of a mail server is of the kind basic (user:password); that of slack is the address of the webhook.',
  listed: LISTED,
  async list(client, page) {
    const answer = await client.connectors.list(page);
    return { items: answer.connectors, answer, nextBefore: answer.nextBefore };
  },
  columns: {
    CONNECTOR: ({ connectorId }) => connectorId,
    STATE: ({ state, problem = '' }) => printable(`${state} ${problem}`.trim()),
    TYPE: ({ type }) => type,
    CHANNELS: ({ channels = ['all'] }) => printable(channels.join(',')),
    RATE: ({ rateLimit: rate }) => (rate ? `${rate.requests}/${rate.perSeconds}` : ''),
    CREDENTIAL: ({ credential = '' }) => credential,
    URL: ({ url = '' }) => printable(url),
  },
  none: 'No connectors yet. Add one: gantry connectors add ops --type slack --credential REF',
  add: {
    takes: '<connectorId>',
    async act(call, connectorId = '') {
      const made = await call.client.connectors.create(wanted(call, connectorId));
      print(
        call,
        made,
        `${made.connectorId} added. Look whether it works: gantry connectors check ${made.connectorId}\n`,
      );
    },
  },
  get: (client, id) => client.connectors.get(id),
  remove: (client, id) => client.connectors.remove(id),
  verbs: { reconnect: (client, id) => client.connectors.reconnect(id, {}) },
  line: ({ connectorId, state }) => `${connectorId} ${state}`,
  actions: {
    check: {
      takes: '<connectorId>',
      async act(call, connectorId = '') {
        const { ok, detail, next } = await call.client.connectors.check(connectorId, {});
        const text = [`${ok ? 'ok' : 'fail'} ${printable(detail)}`, ...(next ? [`Next: ${next}`] : [])];
        print(call, { ok, detail, next }, `${text.join('\n')}\n`);
      },
    },
    deliveries: {
      takes: '<connectorId>',
      async act(call, connectorId = '') {
        const { args, client, io } = call;
        const state = readChoice(args.text('state'), { known: MESSAGE_STATES, noun: 'state' });
        const cursor = args.text('before');
        const page = await client.connectors.deliveries(connectorId, {
          ...(state && { state }),
          ...(cursor !== undefined && { cursor }),
          limit: args.whole('limit', 1, 200) ?? LISTED,
        });
        if (args.flag('json')) return printJson(call, page);
        printListing(call, {
          headings: ['DELIVERY', 'STATE', 'TRIES', 'CREATED', 'CHANNEL', 'RUN', 'LAST'],
          rows: page.deliveries.map((each) => [
            each.deliveryId,
            each.state,
            String(each.attempts),
            ago(each.createdAt, io.now()),
            printable(each.channel),
            each.runId ?? '',
            [each.lastStatus, each.lastReason].filter((part) => part !== undefined).join(' '),
          ]),
          none: 'No messages match.',
          more: page.nextCursor && `gantry connectors deliveries ${connectorId} --before ${page.nextCursor}`,
        });
      },
    },
    resend: {
      takes: '<connectorId> <deliveryId>',
      async act({ client, io }, connectorId = '', deliveryId = '') {
        const sent = await client.connectors.resend(connectorId, { deliveryId });
        io.stdout.write(`${sent.deliveryId} ${sent.state}\n`);
      },
    },
  },
  options: {
    type: option('T', `add: ${CONNECTOR_TYPES.join(', ')}`),
    to: option('URL', 'add: smtps://HOST, smtp://HOST (STARTTLS) or https://...; not for slack'),
    from: option('ADDRESS', 'add: the sender of mail'),
    subject: option('TEXT', 'add: the subject of mail; else the first line of the text'),
    tls: option('none', 'add: a mail relay without encryption, which the operator has to open'),
    credential: option('REF', 'add: a credential of `gantry credentials`'),
    channel: option('NAME', 'add: a channel that it serves (email, slack; all for http); may be repeated', {
      multiple: true,
    }),
    rate: option('N/S', 'add: at most N messages in any S seconds'),
    state: option('S', `deliveries: ${MESSAGE_STATES.join(', ')}`),
  },
  examples: [
    'gantry connectors add mail --type smtp --to smtps://mail.example.com --from ops@example.com --credential mail-login',
    'gantry connectors check mail',
    'gantry connectors deliveries mail --state dead',
  ],
});
