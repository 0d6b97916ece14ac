import type { WebhookSubscription } from '@gantry/protocol';
import { flag, option } from '../command.ts';
import { ago, printJson, printListing, printSecret } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';
import { readChoice } from '../values.ts';

const STATES = ['pending', 'delivered', 'failed', 'dead'] as const;
const OVERLAP_MAX = 7 * 86_400;
const EVENTS_DEFAULT = ['run.*'];

function stateOf({ state, circuit, circuitOpenUntil }: WebhookSubscription): string {
  if (state === 'failed') return 'failed';
  return circuit === 'open' ? `held until ${circuitOpenUntil ?? 'its next try'}` : 'active';
}

export const webhooks = resourceCommand<WebhookSubscription>({
  name: 'webhooks',
  id: 'webhookId',
  summary: 'send the events of runs to a URL',
  details:
    'Every event is signed with the secret that `add` prints once.\n' +
    'An --event is a type, all types of a kind (node.*) or all (*); without one: run.*',
  async list(client) {
    const items = await client.webhooks.list();
    return { items, answer: items };
  },
  columns: {
    WEBHOOK: ({ webhookId }) => webhookId,
    STATE: stateOf,
    DURABLE: ({ durable }) => (durable ? 'yes' : 'no'),
    EVENTS: ({ events }) => events.join(','),
    URL: ({ url }) => printable(url),
  },
  none: 'No webhooks yet. Add one: gantry webhooks add URL',
  add: {
    takes: '<url>',
    async act(call, url = '') {
      const { args, client } = call;
      const events = args.list('event');
      const tags = args.list('tag');
      const made = await client.webhooks.register({
        url,
        events: events.length > 0 ? [...events] : EVENTS_DEFAULT,
        ...(tags.length > 0 && { tags: [...tags] }),
        ...(args.flag('durable') && { durable: true }),
      });
      printSecret(
        call,
        made,
        made.secret,
        `Webhook ${made.webhookId}. Above is the secret that signs its events.`,
      );
    },
  },
  get: (client, id) => client.webhooks.get(id),
  remove: (client, id) => client.webhooks.unregister(id),
  verbs: { resume: (client, id) => client.webhooks.resume(id) },
  line: ({ webhookId, state }) => `${webhookId} ${state}`,
  actions: {
    'rotate-secret': {
      takes: '<webhookId>',
      async act(call, webhookId = '') {
        const overlapSeconds = call.args.whole('overlap', 0, OVERLAP_MAX);
        const request = overlapSeconds === undefined ? {} : { overlapSeconds };
        const made = await call.client.webhooks.rotateSecret(webhookId, request);
        const { previousSecretUntil } = made;
        const until = previousSecretUntil ? `signs too until ${previousSecretUntil}` : 'has ended';
        printSecret(
          call,
          made,
          made.secret,
          `Above is the new secret of ${webhookId}. The old one ${until}.`,
        );
      },
    },
    deliveries: {
      takes: '<webhookId>',
      async act(call, webhookId = '') {
        const { args, client, io } = call;
        const state = readChoice(args.text('state'), { known: STATES, noun: 'state' });
        const cursor = args.text('before');
        const page = await client.webhooks.deliveries(webhookId, {
          ...(state && { state }),
          ...(cursor !== undefined && { cursor }),
          limit: args.whole('limit', 1, 200) ?? 20,
        });
        if (args.flag('json')) return printJson(call, page);
        printListing(call, {
          headings: ['DELIVERY', 'STATE', 'TRIES', 'CREATED', 'EVENT', 'SOURCE', 'LAST'],
          rows: page.deliveries.map((each) => [
            each.deliveryId,
            each.state,
            String(each.attempts),
            ago(each.createdAt, io.now()),
            each.type,
            each.runId ?? each.heartbeatId ?? '',
            printable([each.lastStatus, each.lastReason].filter((part) => part !== undefined).join(' ')),
          ]),
          none: 'No deliveries match.',
          more: page.nextCursor && `gantry webhooks deliveries ${webhookId} --before ${page.nextCursor}`,
        });
      },
    },
    resend: {
      takes: '<webhookId> <deliveryId>',
      async act({ client, io }, webhookId = '', deliveryId = '') {
        const made = await client.webhooks.resend(webhookId, deliveryId);
        io.stdout.write(`${made.deliveryId} ${made.state}\n`);
      },
    },
  },
  options: {
    event: option('TYPE', 'add: which events; may be repeated', { multiple: true }),
    tag: option('TAG', 'add: only runs with this tag; may be repeated', { multiple: true }),
    durable: flag('add: try again for about a day when the receiver fails'),
    overlap: option('SECONDS', 'rotate-secret: how long the old secret signs too (86400)'),
    state: option('S', `deliveries: ${STATES.join(', ')}`),
    limit: option('N', 'deliveries: how many, 1 to 200 (20)'),
    before: option('CURSOR', 'deliveries: go on where an earlier page ended'),
  },
  examples: [
    'gantry webhooks',
    'gantry webhooks add https://example.com/hook --event run.failed --durable',
    'gantry webhooks deliveries WEBHOOK --state dead',
  ],
});
