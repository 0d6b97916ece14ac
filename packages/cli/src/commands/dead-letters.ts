import type { DeadLetter } from '@gantry/protocol';
import { type Actions, runAction, usageOf, wordsMax } from '../actions.ts';
import { type Call, type Command, flag, option } from '../command.ts';
import { ago, printJson, printListing } from '../output.ts';
import { printable } from '../style.ts';

const whatOf = (letter: DeadLetter): string =>
  letter.type === 'run' ? `run ${letter.runId} at ${letter.nodeId}` : `event ${letter.deliveryId}`;

async function list(call: Call): Promise<void> {
  const { args, client, io } = call;
  const before = args.text('before');
  const limit = args.whole('limit', 1, 200) ?? 20;
  const page = await client.deadLetters.list({ limit, ...(before !== undefined && { before }) });
  if (args.flag('json')) return printJson(call, page);
  printListing(call, {
    headings: ['DEAD LETTER', 'WORKFLOW', 'TRIES', 'SINCE', 'WHAT', 'REASON'],
    rows: page.deadLetters.map((letter) => [
      letter.deadLetterId,
      letter.workflowId,
      String(letter.attempts),
      ago(letter.createdAt, io.now()),
      printable(whatOf(letter)),
      printable(letter.reason),
    ]),
    none: 'No dead letters: everything could be done.',
    more: page.nextBefore && `gantry dead-letters ls --before ${page.nextBefore}`,
  });
}

const ACTIONS: Actions = {
  ls: { act: list },
  retry: {
    takes: '<deadLetterId>',
    async act({ client, io }, deadLetterId = '') {
      const made = await client.deadLetters.retry(deadLetterId);
      io.stdout.write(
        made.type === 'run'
          ? `${made.runId}\nWatch it: gantry events ${made.runId} --follow\n`
          : `${made.deliveryId} is delivered again\n`,
      );
    },
  },
  rm: {
    takes: '<deadLetterId>',
    async act({ client, io }, deadLetterId = '') {
      await client.deadLetters.acknowledge(deadLetterId);
      io.stdout.write(`${deadLetterId} removed\n`);
    },
  },
};

export const deadLetters: Command = {
  name: 'dead-letters',
  summary: 'show and retry what could not be done',
  usage: usageOf('dead-letters', ACTIONS),
  details:
    'Runs whose retries are used up, and events that started no run. `retry` branches a run off before the step\n' +
    'that failed, or delivers the event again; `rm` takes it off the list and changes nothing else.',
  options: {
    limit: option('N', 'ls: how many, 1 to 200 (20)'),
    before: option('CURSOR', 'ls: go on where an earlier page ended'),
    json: flag('print JSON'),
  },
  examples: ['gantry dead-letters', 'gantry dead-letters retry ID'],
  words: { min: 0, max: wordsMax(ACTIONS) },
  run: (call) => runAction('dead-letters', ACTIONS, call),
};
