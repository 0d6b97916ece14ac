import type { Client, StreamEvent } from '@gantry/client';
import { isTerminalEvent } from '@gantry/protocol';
import { type Command, flag } from '../command.ts';
import { printable } from '../style.ts';

export const events: Command = {
  name: 'events',
  summary: 'show the events of a run',
  usage: 'events <runId> [--follow] [--json]',
  options: {
    follow: flag('go on until the run ends', { short: 'f' }),
    json: flag('one event per line, as JSON'),
  },
  examples: ['gantry events RUN', 'gantry events RUN --follow', 'gantry events RUN --json | jq .type'],
  async run({ args, io, client }) {
    const runId = args.words[0] ?? '';
    const source = args.flag('follow')
      ? client.runs.events(runId, { streamMode: 'debug', signal: io.signal })
      : recorded(client, runId, io.signal);
    const render = args.flag('json') ? (event: StreamEvent) => JSON.stringify(event) : renderEvent;
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

export function renderEvent(event: Shown): string {
  const time = event.timestamp?.slice(11, 23) ?? '';
  const payload = Object.entries(event.payload ?? {}).filter(([name]) => name !== 'nodeId');
  const body = payload.length === 0 ? '' : JSON.stringify(Object.fromEntries(payload));
  const cells = [String(event.sequence).padStart(5), time, event.type.padEnd(18), event.nodeId ?? '', body];
  return printable(cells.filter((cell) => cell !== '').join('  ')).trimEnd();
}
