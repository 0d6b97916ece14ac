import { type DeadLetter, type DeadLetterRetry, deadLettersWire } from '@gantry/protocol';
import { ago, print } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';

function whatOf(letter: DeadLetter): string {
  switch (letter.type) {
    case 'run':
      return `run ${letter.runId} at ${letter.nodeId}`;
    case 'delivery':
      return `event ${letter.deliveryId}`;
    case 'schedule':
      return `schedule ${letter.scheduleId}`;
  }
}

const reasonOf = (letter: DeadLetter): string =>
  letter.type === 'schedule' ? `${letter.reason}: ${letter.message}` : letter.reason;

function retried(made: DeadLetterRetry): string {
  switch (made.type) {
    case 'run':
      return `${made.runId}\nWatch it: gantry events ${made.runId} --follow\n`;
    case 'delivery':
      return `${made.deliveryId} is delivered again\n`;
    case 'schedule':
      return `${made.scheduleId} fires now\nIts runs: gantry schedules\n`;
  }
}

export const deadLetters = resourceCommand<DeadLetter>(deadLettersWire, {
  summary: 'show and retry dead letters',
  details:
    'Runs whose retries are used up, and events and ticks of schedules that started no run. `retry` branches a run\n' +
    'off before the step that failed, delivers the event again, or fires the schedule now; `rm` removes it from the list and changes nothing else.',
  listed: 20,
  columns: {
    'DEAD LETTER': 'deadLetterId',
    WORKFLOW: 'workflowId',
    TRIES: 'attempts',
    SINCE: ({ createdAt }, now) => ago(createdAt, now),
    WHAT: whatOf,
    REASON: reasonOf,
  },
  none: 'No dead letters.',
  actions: {
    retry: {
      takes: '<deadLetterId>',
      async act(call, deadLetterId = '') {
        const made = await call.client.deadLetters.retry(deadLetterId);
        print(call, made, retried(made));
      },
    },
  },
  examples: ['gantry dead-letters', 'gantry dead-letters retry ID'],
});
