import type { Client, StreamEvent } from '@gantry/client';
import { isTerminalEvent, type JsonObject } from '@gantry/protocol';
import { type Command, flag } from '../command.ts';
import { UsageError } from '../io.ts';
import { cut, lineOf } from '../run-view.ts';
import { duration, printable } from '../style.ts';

export const events: Command = {
  name: 'events',
  summary: 'show the events of a run',
  usage: 'events <runId> [--follow | --failures] [--json]',
  options: {
    follow: flag('go on until the run ends', { short: 'f' }),
    failures: flag('what failed first, then the rest'),
    json: flag('one event per line, as JSON'),
  },
  examples: [
    'gantry events RUN',
    'gantry events RUN --follow',
    'gantry events RUN --failures',
    'gantry events RUN --json | jq .type',
  ],
  async run({ args, io, client }) {
    const runId = args.words[0] ?? '';
    if (args.flag('follow') && args.flag('failures'))
      throw new UsageError('--failures sorts the events that are there; use it without --follow.');
    const all = args.flag('follow')
      ? client.runs.events(runId, { streamMode: 'debug', signal: io.signal })
      : recorded(client, runId, io.signal);
    const source = args.flag('failures') ? await failuresFirst(all) : all;
    const render = args.flag('json') ? (event: StreamEvent) => JSON.stringify(event) : renderInWords;
    for await (const event of source) io.stdout.write(`${render(event)}\n`);
  },
};

/** The events that are in the log now: pages until one is empty or contains the last event. */
export async function* recorded(
  client: Client,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let cursor: { lastSequence?: number } = {};
  for (;;) {
    const page = await client.runs.poll(runId, { ...cursor, timeoutSeconds: 1, signal });
    yield* page.events;
    const last = page.events.at(-1);
    if (!last || isTerminalEvent(last.type)) return;
    cursor = { lastSequence: last.sequence };
  }
}

type Shown = Pick<StreamEvent, 'type' | 'sequence' | 'timestamp' | 'nodeId'> & { payload?: object };

const row = ({ sequence, timestamp = '', type, nodeId = '' }: Shown, body: string): string => {
  const cells = [String(sequence).padStart(5), timestamp.slice(11, 23), type.padEnd(18), nodeId, body];
  return printable(cells.filter((cell) => cell !== '').join('  ')).trimEnd();
};

const membersOf = ({ payload }: Shown): [string, unknown][] =>
  Object.entries(payload ?? {}).filter(([name]) => name !== 'nodeId');

/** With everything in its payload. */
export function renderEvent(event: Shown): string {
  const members = membersOf(event);
  return row(event, members.length === 0 ? '' : JSON.stringify(Object.fromEntries(members)));
}

const SHOWN_MAX = 60;

/** In words where there are any, else with the members of its payload. */
function renderInWords(event: Shown): string {
  const line = lineOf(event.type, (event.payload ?? {}) as JsonObject);
  const took = line?.durationMs === undefined ? '' : duration(line.durationMs);
  const words = [took, line?.note ?? ''].filter(Boolean).join('  ');
  const members = membersOf(event)
    .filter(([name, value]) => (words === '' || name === 'outputs') && JSON.stringify(value) !== '{}')
    .map(
      ([name, value]) =>
        `${name}: ${cut(typeof value === 'string' ? value : JSON.stringify(value), SHOWN_MAX)}`,
    );
  return row(event, [words, members.join(', ')].filter(Boolean).join('  '));
}

const isFailure = ({ type, payload }: StreamEvent): boolean =>
  /\.(failed|rejected|breached|exhausted|dead_lettered|escalated)$|^node\.retried$/.test(type) ||
  (type === 'log.appended' && payload.level === 'error');

/** The failures, then the rest, each in their order. */
async function failuresFirst(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return [...all.filter(isFailure), ...all.filter((event) => !isFailure(event))];
}
