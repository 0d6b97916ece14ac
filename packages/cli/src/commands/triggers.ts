import {
  BRIDGED_SOURCES,
  given,
  SIGNATURE_SCHEMES,
  type TriggerDelivery,
  type TriggerPurpose,
  type TriggerSource,
  type TriggerSubscription,
  triggerSubscriptionsWire,
  VERIFICATION_MODES,
} from '@gantry/protocol';
import type { Args } from '../args.ts';
import { type Call, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { print, printSecret } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';
import { DELIVERIES, groupOf, LOOKED_AT, purposeText, triggerView } from '../trigger-view.ts';
import { readChoice, splitPair } from '../values.ts';

/** Values are paths, never JSON. */
function readMapping(args: Args): { inputMapping?: Record<string, string> } {
  const pairs = args.list('map').map((pair) => splitPair(pair, '--map'));
  return pairs.length > 0 ? { inputMapping: Object.fromEntries(pairs) } : {};
}

async function add(call: Call, workflowId = ''): Promise<void> {
  const { args } = call;
  const source = readChoice(args.text('source'), { known: BRIDGED_SOURCES, noun: 'source' });
  const topic = args.text('topic');
  if (source === 'queue' || (source === undefined && topic !== undefined))
    return addQueue(call, workflowId, topic);
  for (const name of ['topic', 'group'])
    if (args.text(name) !== undefined) throw new UsageError(`--${name} is for queues: use --source queue.`);
  await addIngest(call, workflowId, source ?? 'webhook');
}

async function addIngest(call: Call, workflowId: string, source: TriggerSource): Promise<void> {
  const { args, client } = call;
  const mode = readChoice(args.text('verify'), { known: VERIFICATION_MODES, noun: 'mode' });
  const scheme = readChoice(args.text('scheme'), { known: SIGNATURE_SCHEMES, noun: 'scheme' });
  const made = await client.triggers.register({
    source,
    workflowId,
    ...((mode ?? scheme) && { verification: given({ mode, scheme }) }),
    ...readMapping(args),
  });
  const { subscription, binding } = made;
  const about = `Trigger ${subscription.subscriptionId} takes events at ${binding.ingestUrl}\nAbove is the secret that signs them.`;
  printSecret(call, made, binding.secret, about);
}

async function addQueue(call: Call, workflowId: string, topic: string | undefined): Promise<void> {
  const { args, client } = call;
  if (topic === undefined) throw new UsageError('A queue trigger needs --topic NAME.');
  for (const name of ['verify', 'scheme'])
    if (args.text(name) !== undefined)
      throw new UsageError(
        `--${name} does not apply to queues: their messages come from this host. Remove it.`,
      );
  const consumerGroup = args.text('group');
  const made = await client.triggers.registerQueue({
    workflowId,
    topic,
    ...given({ consumerGroup }),
    ...readMapping(args),
  });
  const { subscriptionId, state } = made.subscription;
  const group = consumerGroup === undefined ? '' : ` in group ${printable(consumerGroup)}`;
  const about = `${subscriptionId} ${state}, listens to ${printable(topic)}${group}`;
  print(call, made, `${about}\nWatch it: gantry triggers show ${subscriptionId}\n`);
}

async function show(call: Call, subscriptionId = ''): Promise<void> {
  const { client, io } = call;
  const [subscription, all, page] = await Promise.all([
    client.triggers.get(subscriptionId),
    client.triggers.describe(),
    client.triggers.deliveries(subscriptionId, { limit: LOOKED_AT }),
  ]);
  const ingestUrl = all.find((each) => each.subscriptionId === subscriptionId)?.ingestUrl;
  const shown = { ...page, ...given({ ingestUrl }) };
  const text = `${purposeText(shown, subscriptionId)}${triggerView(subscription, page, io.now())}`;
  print(call, { subscription, ...shown }, text);
}

type Trigger = TriggerSubscription & Partial<TriggerPurpose>;

export const triggers = resourceCommand<Trigger, TriggerDelivery>(triggerSubscriptionsWire, {
  name: 'triggers',
  id: 'triggerId',
  summary: 'start runs from external events, or from messages of a topic',
  details:
    'Senders sign each event with the secret that `add` prints once; docs/triggers.md says how.\n' +
    'With --topic nothing is sent: every message of the topic starts a run. Paths of --map then begin with payload.',
  list: (client) => client.triggers.describe(),
  columns: {
    TRIGGER: 'subscriptionId',
    SOURCE: 'source',
    STATE: 'state',
    WORKFLOW: ({ workflowId = '-' }) => workflowId,
    TOPIC: ({ topic = '-' }) => topic,
    GROUP: (trigger) => groupOf(trigger, trigger.subscriptionId) ?? '-',
    SECRET: ({ secretFingerprint = 'none' }) => secretFingerprint,
  },
  none: 'No triggers yet. Add one: gantry triggers add WORKFLOW',
  add: { takes: '<workflow>', act: add },
  show,
  deliveries: DELIVERIES,
  options: {
    source: option('S', `${BRIDGED_SOURCES.join(', ')} (webhook; with --topic queue)`, { of: ['add'] }),
    topic: option('NAME', 'the topic of a queue to listen to', { of: ['add'] }),
    group: option('NAME', 'share the messages of the topic with this group', { of: ['add'] }),
    verify: option('M', `signatures are ${VERIFICATION_MODES.join(', ')} (required)`, { of: ['add'] }),
    scheme: option('S', `how senders sign, ${SIGNATURE_SCHEMES.join(' or ')} (openwop)`, { of: ['add'] }),
    map: option('V=PATH', 'fill a variable from the event; may be repeated', { of: ['add'], multiple: true }),
  },
  examples: [
    'gantry triggers add triage --map issue=webhook.body.issue.id',
    'gantry triggers add ship --topic orders --map order=payload.id',
    'gantry triggers show TRIGGER',
  ],
});
