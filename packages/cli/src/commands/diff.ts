import type { EventDiff, RunDiffResponse } from '@gantry/protocol';
import { type Command, flag } from '../command.ts';
import { oneLine } from '../interrupt.ts';
import { print } from '../output.ts';
import { printable, type Style } from '../style.ts';
import { renderEvent } from './events.ts';

const EVENTS_SHOWN = 20;

export const diff: Command = {
  name: 'diff',
  summary: 'compare two runs',
  usage: 'diff <runA> <runB> [--all] [--json]',
  details: `Shows the first ${EVENTS_SHOWN} events that differ; - is only in A, + only in B, ~ in both.`,
  options: {
    all: flag('show every event that differs'),
    json: flag('print JSON'),
  },
  examples: ['gantry diff RUN FORK'],
  async run(call) {
    const { args, style, client } = call;
    const [a = '', b = ''] = args.words;
    const found = await client.runs.diff(a, b);
    print(call, found, renderDiff(found, args.flag('all') ? Number.POSITIVE_INFINITY : EVENTS_SHOWN, style));
  },
};

export function renderDiff(found: RunDiffResponse, shownMax: number, style: Style): string {
  const { divergedAtSeq, eventDiffs, stateDiff, truncated } = found;
  const states = Object.entries(stateDiff);
  const isSame = divergedAtSeq === null && states.length === 0;
  const hidden = eventDiffs.length - shownMax;
  const lines = [
    style('bold', headline(divergedAtSeq, isSame)),
    ...eventDiffs.slice(0, shownMax).flatMap((each) => renderEventDiff(each, style)),
    ...(hidden > 0 ? [`and ${hidden} more: use --all`] : []),
    ...(states.length > 0 ? ['Final state:'] : []),
    ...states.flatMap(([pointer, { a, b }]) => [
      `  ${printable(pointer)}`,
      `    A ${oneLine(a)}`,
      `    B ${oneLine(b)}`,
    ]),
    ...(truncated ? ['There may be more: a run is still active, or the list was cut.'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headline(divergedAtSeq: number | null, isSame: boolean): string {
  if (isSame) return 'The runs are the same.';
  if (divergedAtSeq === null) return 'The events are the same.';
  return `The runs differ from event ${divergedAtSeq} on.`;
}

function renderEventDiff({ op, aEvent, bEvent }: EventDiff, style: Style): string[] {
  const before = aEvent && style('red', `${op === 'removed' ? '-' : '~ A'} ${renderEvent(aEvent)}`);
  const after = bEvent && style('green', `${op === 'added' ? '+' : '~ B'} ${renderEvent(bEvent)}`);
  return [before, after].filter((line) => line !== undefined);
}
