import {
  BRIDGED_SOURCES,
  SIGNATURE_SCHEMES,
  type TriggerPurpose,
  type TriggerSource,
  type TriggerSubscription,
  VERIFICATION_MODES,
} from '@gantry/protocol';
import type { Args } from '../args.ts';
import { type Call, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { printJson, printListing, printSecret } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';
import { deliveryTable, groupOf, LOOKED_AT, purposeText, triggerView } from '../trigger-view.ts';
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
    ...((mode ?? scheme) && { verification: { ...(mode && { mode }), ...(scheme && { scheme }) } }),
    ...readMapping(args),
  });
  const { subscription, binding } = made;
  const about = `Trigger ${subscription.subscriptionId} takes events at ${binding.ingestUrl}\nAbove is the secret that signs them.`;
  printSecret(call, made, binding.secret, about);
}

async function addQueue(call: Call, workflowId: string, topic: string | undefined): Promise<void> {
  const { args, client, io } = call;
  if (topic === undefined) throw new UsageError('A queue needs --topic NAME: what to listen to.');
  for (const name of ['verify', 'scheme'])
    if (args.text(name) !== undefined)
      throw new UsageError(`--${name} is not for queues: their messages come from this host. Leave it out.`);
  const consumerGroup = args.text('group');
  const made = await client.triggers.registerQueue({
    workflowId,
    topic,
    ...(consumerGroup !== undefined && { consumerGroup }),
    ...readMapping(args),
  });
  if (args.flag('json')) return printJson(call, made);
  const { subscriptionId, state } = made.subscription;
  const group = consumerGroup === undefined ? '' : ` in group ${printable(consumerGroup)}`;
  io.stdout.write(
    `${subscriptionId} ${state}, listens to ${printable(topic)}${group}\nWatch it: gantry triggers show ${subscriptionId}\n`,
  );
}

async function deliveries(call: Call, subscriptionId = ''): Promise<void> {
  const { args, client, io } = call;
  const cursor = args.text('before');
  const limit = args.whole('limit', 1, 200) ?? 20;
  const page = await client.triggers.deliveries(subscriptionId, {
    limit,
    ...(cursor !== undefined && { cursor }),
  });
  if (args.flag('json')) return printJson(call, page);
  printListing(call, {
    ...deliveryTable(page.deliveries, io.now()),
    more: page.nextCursor && `gantry triggers deliveries ${subscriptionId} --before ${page.nextCursor}`,
  });
  if (page.problem !== undefined) io.stdout.write(`Problem: ${printable(page.problem)}\n`);
}

async function show(call: Call, subscriptionId = ''): Promise<void> {
  const { args, client, io } = call;
  const [subscription, all, page] = await Promise.all([
    client.triggers.get(subscriptionId),
    client.triggers.describe(),
    client.triggers.deliveries(subscriptionId, { limit: LOOKED_AT }),
  ]);
  const ingestUrl = all.find((each) => each.subscriptionId === subscriptionId)?.ingestUrl;
  if (args.flag('json')) return printJson(call, { subscription, ...page, ...(ingestUrl && { ingestUrl }) });
  const purpose = purposeText({ ...page, ...(ingestUrl && { ingestUrl }) }, subscriptionId);
  io.stdout.write(`${purpose}${triggerView(subscription, page, io.now())}`);
}

export const triggers = resourceCommand<TriggerSubscription & Partial<TriggerPurpose>>({
  name: 'triggers',
  id: 'triggerId',
  summary: 'start runs from events of the outside world, or from messages of a topic',
  details:
    'Senders sign each event with the secret that `add` prints once; docs/triggers.md says how.\n' +
    'With --topic nothing is sent: every message of the topic starts a run. Paths of --map then begin with payload.',
  async list(client) {
    const items = await client.triggers.describe();
    return { items, answer: items };
  },
  columns: {
    TRIGGER: ({ subscriptionId }) => subscriptionId,
    SOURCE: ({ source }) => source,
    STATE: ({ state }) => state,
    WORKFLOW: ({ workflowId = '-' }) => printable(workflowId),
    TOPIC: ({ topic = '-' }) => printable(topic),
    GROUP: (trigger) => printable(groupOf(trigger, trigger.subscriptionId) ?? '-'),
    SECRET: ({ secretFingerprint = 'none' }) => secretFingerprint,
  },
  none: 'No triggers yet. Add one: gantry triggers add WORKFLOW',
  add: { takes: '<workflow>', act: add },
  show: { takes: '<triggerId>', act: show },
  remove: (client, id) => client.triggers.unregister(id),
  verbs: {
    pause: (client, id) => client.triggers.pause(id),
    resume: (client, id) => client.triggers.resume(id),
  },
  line: ({ subscriptionId, state }) => `${subscriptionId} ${state}`,
  actions: { deliveries: { takes: '<triggerId>', act: deliveries } },
  options: {
    source: option('S', `add: ${BRIDGED_SOURCES.join(', ')} (webhook; with --topic queue)`),
    topic: option('NAME', 'add: the topic of a queue to listen to'),
    group: option('NAME', 'add: share the messages of the topic with this group'),
    verify: option('M', `add: signatures are ${VERIFICATION_MODES.join(', ')} (required)`),
    scheme: option('S', `add: how senders sign, ${SIGNATURE_SCHEMES.join(' or ')} (openwop)`),
    map: option('V=PATH', 'add: fill a variable from the event; may be repeated', { multiple: true }),
    limit: option('N', 'deliveries: how many, 1 to 200 (20)'),
    before: option('CURSOR', 'deliveries: go on where an earlier page ended'),
  },
  examples: [
    'gantry triggers add triage --map issue=webhook.body.issue.id',
    'gantry triggers add ship --topic orders --map order=payload.id',
    'gantry triggers show TRIGGER',
  ],
});
