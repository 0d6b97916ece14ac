import type { DeadLetter } from '@gantry/protocol';
import { DEAD_LETTERS } from '@gantry/protocol/tables';
import { ago, print } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';

const whatOf = (letter: DeadLetter): string =>
  letter.type === 'run' ? `run ${letter.runId} at ${letter.nodeId}` : `event ${letter.deliveryId}`;

export const deadLetters = resourceCommand<DeadLetter>({
  table: DEAD_LETTERS,
  of: (client) => client.deadLetters,
  summary: 'show and retry dead letters',
  details:
    'Runs whose retries are used up, and events that started no run. `retry` branches a run off before the step\n' +
    'that failed, or delivers the event again; `rm` removes it from the list and changes nothing else.',
  listed: 20,
  columns: {
    'DEAD LETTER': 'deadLetterId',
    WORKFLOW: 'workflowId',
    TRIES: 'attempts',
    SINCE: ({ createdAt }, now) => ago(createdAt, now),
    WHAT: whatOf,
    REASON: 'reason',
  },
  none: 'No dead letters.',
  actions: {
    retry: {
      takes: '<deadLetterId>',
      async act(call, deadLetterId = '') {
        const made = await call.client.deadLetters.retry(deadLetterId);
        print(
          call,
          made,
          made.type === 'run'
            ? `${made.runId}\nWatch it: gantry events ${made.runId} --follow\n`
            : `${made.deliveryId} is delivered again\n`,
        );
      },
    },
  },
  examples: ['gantry dead-letters', 'gantry dead-letters retry ID'],
});
