import { TRIGGER_SOURCES, VERIFICATION_MODES } from '@gantry/protocol';
import { type Actions, runAction, usageOf, wordsMax } from '../actions.ts';
import type { Args } from '../args.ts';
import type { Call, Command } from '../command.ts';
import { ago, printJson, printListing, printSecret } from '../output.ts';
import { printable } from '../style.ts';
import { readChoice, splitPair } from '../values.ts';

/** Values are paths, never JSON. */
const readMapping = (args: Args): Record<string, string> =>
  Object.fromEntries(args.list('map').map((pair) => splitPair(pair, '--map')));

async function add(call: Call, workflowId = ''): Promise<void> {
  const { args, client } = call;
  const source = readChoice(args.text('source'), { known: TRIGGER_SOURCES, noun: 'source' });
  const mode = readChoice(args.text('verify'), { known: VERIFICATION_MODES, noun: 'mode' });
  const inputMapping = readMapping(args);
  const made = await client.triggers.register({
    source: source ?? 'webhook',
    workflowId,
    ...(mode && { verification: { mode } }),
    ...(Object.keys(inputMapping).length > 0 && { inputMapping }),
  });
  const { subscription, binding } = made;
  const about = `Trigger ${subscription.subscriptionId} takes events at ${binding.ingestUrl}\nAbove is the secret that signs them.`;
  printSecret(call, made, binding.secret, about);
}

async function list(call: Call): Promise<void> {
  const all = await call.client.triggers.list();
  if (call.args.flag('json')) return printJson(call, all);
  printListing(call, {
    headings: ['TRIGGER', 'SOURCE', 'STATE', 'SECRET'],
    rows: all.map((each) => [each.subscriptionId, each.source, each.state, each.secretFingerprint]),
    none: 'No triggers yet. Add one: gantry triggers add WORKFLOW',
  });
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
    headings: ['DELIVERY', 'STATE', 'TRIES', 'RECEIVED', 'VERIFIED', 'RUN', 'REASON'],
    rows: page.deliveries.map((each) => [
      each.deliveryId,
      each.state,
      String(each.attempts),
      ago(each.receivedAt, io.now()),
      each.verified ? 'yes' : 'no',
      each.runId ?? '',
      printable(each.reason ?? ''),
    ]),
    none: 'No deliveries yet.',
    more: page.nextCursor && `gantry triggers deliveries ${subscriptionId} --before ${page.nextCursor}`,
  });
}

const ACTIONS: Actions = {
  ls: { act: list },
  add: { takes: '<workflow>', act: add },
  rm: {
    takes: '<triggerId>',
    async act({ client, io }, subscriptionId = '') {
      await client.triggers.unregister(subscriptionId);
      io.stdout.write(`${subscriptionId} removed\n`);
    },
  },
  pause: {
    takes: '<triggerId>',
    async act({ client, io }, id = '') {
      io.stdout.write(`${id} ${(await client.triggers.pause(id)).state}\n`);
    },
  },
  resume: {
    takes: '<triggerId>',
    async act({ client, io }, id = '') {
      io.stdout.write(`${id} ${(await client.triggers.resume(id)).state}\n`);
    },
  },
  deliveries: { takes: '<triggerId>', act: deliveries },
};

export const triggers: Command = {
  name: 'triggers',
  summary: 'start runs from events of the outside world',
  usage: usageOf('triggers', ACTIONS),
  details: 'Senders sign each event with the secret that `add` prints once; docs/triggers.md says how.',
  options: {
    source: { type: 'string', value: 'S', text: `add: ${TRIGGER_SOURCES.join(', ')} (webhook)` },
    verify: {
      type: 'string',
      value: 'M',
      text: `add: signatures are ${VERIFICATION_MODES.join(', ')} (required)`,
    },
    map: {
      type: 'string',
      multiple: true,
      value: 'V=PATH',
      text: 'add: fill a variable from the event; may be repeated',
    },
    limit: { type: 'string', value: 'N', text: 'deliveries: how many, 1 to 200 (20)' },
    before: { type: 'string', value: 'CURSOR', text: 'deliveries: go on where an earlier page ended' },
    json: { type: 'boolean', text: 'print JSON' },
  },
  examples: [
    'gantry triggers add triage --map issue=webhook.body.issue.id',
    'gantry triggers deliveries TRIGGER',
  ],
  words: { min: 0, max: wordsMax(ACTIONS) },
  run: (call) => runAction('triggers', ACTIONS, call),
};
