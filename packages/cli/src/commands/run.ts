import path from 'node:path';
import { ApiError } from '@gantry/client';
import { didYouMean, type JsonObject } from '@gantry/protocol';
import { type Call, type Command, flag, option } from '../command.ts';
import { readInputs } from '../inputs.ts';
import { EXIT, UsageError } from '../io.ts';
import { printable } from '../style.ts';
import { readJson, readPairs, readTree } from '../values.ts';
import { nodeNames, printEvents, renderEnd, watchRun } from '../watch.ts';

/** Options of one run. */
export const SET = option(
  'K=V',
  'a value of `configurable`, such as ai.model=small or budget.maxTokens=5000',
  {
    multiple: true,
  },
);

export const configurableOf = ({ args }: Call): { configurable?: JsonObject } => {
  const pairs = args.list('set');
  return pairs.length === 0 ? {} : { configurable: readTree(pairs, '--set') };
};

export const run: Command = {
  name: 'run',
  summary: 'start a run of a workflow',
  usage:
    'run <workflow> [--input k=v]... [--input-file FILE] [--set k=v]... [--replace] [--watch] [--json] [--timeout S]',
  details:
    '<workflow> is an id, or the path of a definition in JSON or YAML, which is registered first.\n' +
    'A value is read as JSON when it is JSON, else as text: --input count=3 --input name=Ada\n' +
    'Values of variables of type string are always text.',
  options: {
    input: option('K=V', 'one input; may be repeated', { multiple: true, short: 'i' }),
    'input-file': option('FILE', 'an object of inputs in JSON or YAML; --input wins over it'),
    set: SET,
    watch: flag('show the steps until the run ends', { short: 'w' }),
    json: flag('print JSON; with --watch one event per line'),
    replace: flag('replace the registered definition of the same version'),
    timeout: option('S', 'with --watch: stop watching after S seconds; the run goes on'),
  },
  examples: [
    'gantry run hello --watch',
    'gantry run report --input city="Zürich" --input days=7 --watch',
    'gantry run report --set ai.provider=scripted --set budget.maxTokens=5000 --watch',
    'gantry run ./flows/report.json --input-file inputs.json --watch --json',
  ],
  async run(call) {
    const { args, io, client } = call;
    if (args.text('timeout') !== undefined && !args.flag('watch')) {
      throw new UsageError('--timeout limits watching; use it with --watch.');
    }
    const timeoutSeconds = args.whole('timeout', 1, 1_000_000);
    const fromFile = await inputsOf(args.text('input-file'), io.cwd);
    readPairs(args.list('input'), '--input'); // before anything is registered
    const options = configurableOf(call);
    const workflowId = await workflowIdOf(call, args.words[0] ?? '');
    const inputs = { ...fromFile, ...(await readInputs(client, workflowId, args.list('input'))) };
    const created = await client.runs.create({ workflowId, inputs, ...options }).catch(async (error) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      const known = await client.workflows.list().catch(() => []); // the key may lack the permission
      const ids = known.map((each) => each.workflowId);
      const next = didYouMean(workflowId, ids) || ' See what there is: gantry workflows';
      throw new UsageError(`There is no workflow "${workflowId}".${next}`, error.code);
    });
    if (args.flag('watch')) return watch(call, workflowId, created.runId, timeoutSeconds);
    if (args.flag('json')) io.stdout.write(`${JSON.stringify(created)}\n`);
    else io.stdout.write(`${created.runId}\nWatch it: gantry events ${created.runId} --follow\n`);
  },
};

/** Watches until the run ends; returns the exit code. */
export async function watch(
  call: Call,
  workflowId: string,
  runId: string,
  timeoutSeconds: number | undefined,
): Promise<number> {
  const { args, io, style, client } = call;
  const timeout = timeoutSeconds === undefined ? undefined : AbortSignal.timeout(timeoutSeconds * 1000);
  const signal = timeout ? AbortSignal.any([io.signal, timeout]) : io.signal;
  const json = args.flag('json');
  if (!json) io.stdout.write(`${style('bold', workflowId)} ${style('dim', runId)}\n`);
  try {
    const end = json
      ? await printEvents(call, runId, signal)
      : await watchRun(call, runId, await nodeNames(client, workflowId), signal);
    if (!end)
      throw new Error(`The events of ${runId} ended before the run did. See \`gantry explain ${runId}\`.`);
    if (!json) io.stdout.write(renderEnd(runId, end, style));
    if (!json && end.exitCode === EXIT.ok) await tellNotes(call, runId);
    return end.exitCode;
  } catch (error) {
    if (!signal.aborted) throw error;
    const why = timeout?.aborted ? `Not finished after ${timeoutSeconds} s` : 'Stopped watching';
    io.stderr.write(
      `${why}; the run goes on.\nWatch it: gantry events ${runId} --follow\nEnd it: gantry cancel ${runId}\n`,
    );
    return timeout?.aborted ? EXIT.error : EXIT.interrupted;
  }
}

/** Prints why the run completed earlier than its author may expect. Skipped if the key may not read this. */
async function tellNotes({ client, io }: Call, runId: string): Promise<void> {
  const { notes = [] } = await client.runs.explain(runId).catch(() => ({ notes: [] }));
  for (const note of notes) io.stderr.write(`${printable(note)}\n`);
}

/** Ids have no dots or slashes, so anything with one is a file. */
async function workflowIdOf({ client, args, io }: Call, word: string): Promise<string> {
  if (!/[./\\]/.test(word)) return word;
  const definition = await readJson(path.resolve(io.cwd, word));
  return (await client.workflows.register(definition, { replace: args.flag('replace') })).workflowId;
}

async function inputsOf(file: string | undefined, cwd: string): Promise<JsonObject> {
  const fromFile = file === undefined ? {} : await readJson(path.resolve(cwd, file));
  if (fromFile === null || typeof fromFile !== 'object' || Array.isArray(fromFile)) {
    throw new UsageError(`${file} must hold an object of inputs.`);
  }
  return fromFile;
}
