import type { ModelUsage, RunUsage } from '@gantry/protocol';
import { type Command, flag, option } from '../command.ts';
import { print } from '../output.ts';
import { printable } from '../style.ts';

export const usage: Command = {
  name: 'usage',
  summary: 'model usage and its cost, by workflow or for one run',
  usage: 'usage [<runId>] [--days N] [--json]',
  options: {
    days: option('N', 'the last N days (30)'),
    json: flag('print JSON'),
  },
  examples: ['gantry usage', 'gantry usage --days 7', 'gantry usage RUN'],
  async run(call) {
    const [runId] = call.args.words;
    if (runId !== undefined) {
      const used = await call.client.runs.usage(runId);
      return print(call, used, `${ofRun(used)}\n`);
    }
    const used = await call.client.usage(call.args.text('days'));
    print(call, used, `${byWorkflow(used)}\n`);
  },
};

const dollars = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
const tokens = (input: number, output: number): string =>
  `${input.toLocaleString('en')} tokens in, ${output.toLocaleString('en')} out`;

function byWorkflow({ from, to, total, workflows }: ModelUsage): string {
  const lineOf = (name: string, { calls, inputTokens, outputTokens, costUsd }: ModelUsage['total']): string =>
    `${printable(name)}  ${calls} ${calls === 1 ? 'call' : 'calls'}  ${tokens(inputTokens, outputTokens)}  ${dollars(costUsd)}`;
  return [
    `From ${from} to ${to} (UTC)`,
    ...workflows.map((each) => lineOf(each.workflowId, each)),
    lineOf('all workflows', total),
  ].join('\n');
}

function ofRun({ runId, tokens: all, costUsd, calls, callCount, family, inDoubt }: RunUsage): string {
  return [
    `${runId}: ${all.toLocaleString('en')} tokens, ${dollars(costUsd)}`,
    ...(callCount > calls.length ? [`  (the last ${calls.length} of ${callCount} calls)`] : []),
    ...calls.map(
      ({ nodeId = '', provider, model, inputTokens, outputTokens, costUsd: cost }) =>
        `  ${printable(`${nodeId}  ${provider}/${model}`)}  ${tokens(inputTokens, outputTokens)}${cost === undefined ? '' : `  ${dollars(cost)}`}`,
    ),
    ...inDoubt.map(
      ({ nodeId, since, tokens: reserved }) =>
        `  ${printable(nodeId)}  under way, or cut off, since ${since}: ${reserved.toLocaleString('en')} tokens stay reserved`,
    ),
    `With children, forks and repeats: ${family.tokens.toLocaleString('en')} tokens, ${dollars(family.costUsd)}`,
  ].join('\n');
}
