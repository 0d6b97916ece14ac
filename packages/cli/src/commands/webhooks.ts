import { given, type WebhookDelivery, type WebhookSubscription, webhooksWire } from '@gantry/protocol';
import { flag, option } from '../command.ts';
import { print, printSecret } from '../output.ts';
import { resourceCommand, sentColumns } from '../resource-command.ts';

const OVERLAP_MAX = 7 * 86_400;
const EVENTS_DEFAULT = ['run.*'];

function stateOf({ state, circuit, circuitOpenUntil }: WebhookSubscription): string {
  if (state === 'failed') return 'failed';
  return circuit === 'open' ? `held until ${circuitOpenUntil ?? 'its next try'}` : 'active';
}

export const webhooks = resourceCommand<WebhookSubscription, WebhookDelivery>(webhooksWire, {
  summary: 'send the events of runs to a URL',
  details:
    'Every event is signed with the secret that `add` prints once.\n' +
    'An --event is a type, all types of a kind (node.*) or all (*); without one: run.*',
  columns: {
    WEBHOOK: 'webhookId',
    STATE: stateOf,
    DURABLE: ({ durable }) => (durable ? 'yes' : 'no'),
    EVENTS: ({ events }) => events.join(','),
    URL: 'url',
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
  deliveries: {
    states: ['pending', 'delivered', 'failed', 'dead'],
    columns: sentColumns({ EVENT: 'type', SOURCE: ({ runId, heartbeatId }) => runId ?? heartbeatId }),
    none: 'No deliveries match.',
  },
  actions: {
    'rotate-secret': {
      takes: '<webhookId>',
      async act(call, webhookId = '') {
        const overlapSeconds = call.args.whole('overlap', 0, OVERLAP_MAX);
        const made = await call.client.webhooks.rotateSecret(webhookId, given({ overlapSeconds }));
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
    resend: {
      takes: '<webhookId> <deliveryId>',
      async act(call, webhookId = '', deliveryId = '') {
        const made = await call.client.webhooks.resend(webhookId, deliveryId);
        print(call, made, `${made.deliveryId} ${made.state}\n`);
      },
    },
  },
  options: {
    event: option('TYPE', 'which events; may be repeated', { of: ['add'], multiple: true }),
    tag: option('TAG', 'only runs with this tag; may be repeated', { of: ['add'], multiple: true }),
    durable: flag('retry for about a day when the receiver fails', { of: ['add'] }),
    overlap: option('SECONDS', 'seconds that the old secret also signs (86400)', { of: ['rotate-secret'] }),
  },
  examples: [
    'gantry webhooks',
    'gantry webhooks add https://example.com/hook --event run.failed --durable',
    'gantry webhooks deliveries WEBHOOK --state dead',
  ],
});
