import { ApiError } from '@gantry/client';
import type { RunExplanation } from '@gantry/protocol';
import { locationsOf } from '../code-location.ts';
import { type Command, flag } from '../command.ts';
import type { Finding } from '../doctor/finding.ts';
import { starterFinding } from '../doctor/starters.ts';
import { print } from '../output.ts';
import { duration, printable, type Style } from '../style.ts';

export const explain: Command = {
  name: 'explain',
  summary: 'explain the state of a run and what to do next',
  usage: 'explain <runId> [--json]',
  details: 'For the id of a schedule or trigger: why it starts no runs.',
  options: { json: flag('print JSON') },
  examples: ['gantry explain RUN'],
  async run(call) {
    const [id = ''] = call.args.words;
    const found = await call.client.runs.explain(id).catch(async (error) => {
      const starter =
        error instanceof ApiError && error.status === 404 && (await starterFinding(call.client, id));
      if (!starter) throw error;
      return { starter };
    });
    if ('starter' in found) return print(call, found.starter, `${inLines(found.starter)}\n`);
    const explanation = found;
    print(call, explanation, `${renderExplanation(explanation, call.io.now(), call.style)}\n`);
  },
};

const inLines = ({ detail, next }: Finding): string =>
  [detail, ...(next === undefined ? [] : [next])].map(printable).join('\n');

/** The command for each action; an action that the CLI does not know is shown as its request. */
const TYPED: Readonly<Record<string, (runId: string) => string>> = {
  cancel: (runId) => `gantry cancel ${runId}`,
  pause: (runId) => `gantry pause ${runId}`,
  resume: (runId) => `gantry resume ${runId}`,
  resolve: (runId) => `gantry approvals ${runId}`,
  reconnect: () => 'gantry connections connect <provider>',
  'read-events': (runId) => `gantry events ${runId}`,
  repair: (runId) => `gantry repair ${runId} --watch`,
  'run-again': (runId) => `gantry rerun ${runId} --watch`,
};

function renderExplanation(explanation: RunExplanation, now: number, style: Style): string {
  const { runId, status, summary, since, waitingFor, cause, notes = [], actions } = explanation;
  const age = since === undefined ? '' : ` (for ${duration(now - Date.parse(since))})`;
  const where = [
    cause?.nodeId && `at ${cause.nodeId}`,
    cause?.sequence !== undefined && `event ${cause.sequence}`,
  ];
  const lines = [
    `${style('bold', status)}${age}  ${runId}`,
    printable(summary),
    ...notes.map(printable),
    ...waitingFor.map(({ text }) => `  … ${printable(text)}`),
    ...(cause
      ? [`  ✗ ${printable(`${cause.error.code}: ${cause.error.message}`)} ${inBrackets(where)}`.trimEnd()]
      : []),
    ...locationsOf(cause?.error.details).map((location) => `    at ${printable(location)}`),
    ...(actions.length > 0 ? ['You can:'] : []),
    ...actions.map(({ action, method, path, text }) => {
      const command = TYPED[action]?.(runId) ?? `${method} ${path}`;
      return `  ${printable(command)}  ${style('dim', printable(text))}`;
    }),
  ];
  return lines.join('\n');
}

function inBrackets(parts: readonly (string | false | undefined)[]): string {
  const known = parts.filter((part) => typeof part === 'string' && part !== '');
  return known.length === 0 ? '' : `(${known.join(', ')})`;
}
