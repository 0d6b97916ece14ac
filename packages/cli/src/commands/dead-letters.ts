import type { DeadLetter } from '@gantry/protocol';
import { ago } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';

const whatOf = (letter: DeadLetter): string =>
  letter.type === 'run' ? `run ${letter.runId} at ${letter.nodeId}` : `event ${letter.deliveryId}`;

export const deadLetters = resourceCommand<DeadLetter>({
  name: 'dead-letters',
  id: 'deadLetterId',
  summary: 'show and retry what could not be done',
  details:
    'Runs whose retries are used up, and events that started no run. `retry` branches a run off before the step\n' +
    'that failed, or delivers the event again; `rm` takes it off the list and changes nothing else.',
  listed: 20,
  async list(client, asked) {
    const page = await client.deadLetters.list(asked);
    return { items: page.deadLetters, answer: page, nextBefore: page.nextBefore };
  },
  columns: {
    'DEAD LETTER': ({ deadLetterId }) => deadLetterId,
    WORKFLOW: ({ workflowId }) => workflowId,
    TRIES: ({ attempts }) => String(attempts),
    SINCE: ({ createdAt }, now) => ago(createdAt, now),
    WHAT: (letter) => printable(whatOf(letter)),
    REASON: ({ reason }) => printable(reason),
  },
  none: 'No dead letters: everything could be done.',
  get: (client, id) => client.deadLetters.get(id),
  remove: (client, id) => client.deadLetters.acknowledge(id),
  actions: {
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
  },
  options: {},
  examples: ['gantry dead-letters', 'gantry dead-letters retry ID'],
});
