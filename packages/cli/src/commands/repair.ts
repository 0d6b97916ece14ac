/** Runs an ended run again: from the node that failed, or from the start. */
import { type Call, type Command, flag, option } from '../command.ts';
import { readInputs } from '../inputs.ts';
import { configurableOf, SET, watch } from './run.ts';

const OPTIONS = {
  watch: flag('show the steps until the new run ends', { short: 'w' }),
  json: flag('print JSON; with --watch one event per line'),
};

export const repair: Command = {
  name: 'repair',
  summary: 'continue a failed run in a new run, from the node that failed',
  usage: 'repair <runId> [--watch] [--json]',
  details:
    'Creates a new run that keeps the events before the failed node, and continues with the current version of the\n' +
    'workflow. Register a corrected version or remove the cause first. It is refused where the new version does not\n' +
    'match the events.',
  options: OPTIONS,
  examples: ['gantry repair RUN --watch'],
  async run(call) {
    const { runId } = await call.client.runs.repair(call.args.words[0] ?? '');
    return begun(call, runId);
  },
};

export const rerun: Command = {
  name: 'rerun',
  summary: 'run a workflow again with the inputs of a run',
  usage: 'rerun <runId> [--input k=v]... [--set k=v]... [--watch] [--json]',
  details: 'Other inputs and values of `configurable` are those of the run.',
  options: {
    input: option('K=V', 'another value for one input; may be repeated', { multiple: true, short: 'i' }),
    set: SET,
    ...OPTIONS,
  },
  examples: [
    'gantry rerun RUN --watch',
    'gantry rerun RUN --input city=Bern --watch',
    'gantry rerun RUN --set budget.maxTokens=20000 --watch',
  ],
  async run(call) {
    const [of = ''] = call.args.words;
    const pairs = call.args.list('input');
    const { client } = call;
    const inputs =
      pairs.length === 0 ? {} : await readInputs(client, (await client.runs.get(of)).workflowId, pairs);
    const { runId } = await client.runs.again(of, { inputs, ...configurableOf(call) });
    return begun(call, runId);
  },
};

async function begun(call: Call, runId: string): Promise<number | undefined> {
  const { args, io, client } = call;
  if (args.flag('watch')) return watch(call, (await client.runs.get(runId)).workflowId, runId, undefined);
  const text = `${runId}\nWatch it: gantry events ${runId} --follow\n`;
  io.stdout.write(args.flag('json') ? `${JSON.stringify({ runId })}\n` : text);
  return undefined;
}
