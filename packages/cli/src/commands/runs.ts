import { RUN_STATUSES } from '@gantry/protocol';
import { type Command, flag, option } from '../command.ts';
import { EXIT } from '../io.ts';
import { duration, table } from '../style.ts';
import { readChoice } from '../values.ts';

export const runs: Command = {
  name: 'runs',
  summary: 'list runs, newest first',
  usage: 'runs [--status S] [--workflow ID] [--limit N] [--before CURSOR] [--json]',
  options: {
    status: option('S', RUN_STATUSES.join(', ')),
    workflow: option('ID', 'only runs of this workflow'),
    limit: option('N', 'how many, 1 to 100 (20)'),
    before: option('CURSOR', 'go on where an earlier page ended'),
    json: flag('print JSON'),
  },
  examples: ['gantry runs', 'gantry runs --status failed --limit 5'],
  words: { min: 0, max: 0 },
  async run({ args, io, client }) {
    const status = readChoice(args.text('status'), { known: RUN_STATUSES, noun: 'status' });
    const workflowId = args.text('workflow');
    const before = args.text('before');
    const page = await client.runs.list({
      ...(status && { status }),
      ...(workflowId && { workflowId }),
      ...(before && { before }),
      limit: args.whole('limit', 1, 100) ?? 20,
    });
    if (args.flag('json')) {
      io.stdout.write(`${JSON.stringify(page, null, 2)}\n`);
      return EXIT.ok;
    }
    if (page.runs.length === 0) {
      io.stdout.write('No runs match. Start one: gantry run <workflow>\n');
      return EXIT.ok;
    }
    const rows = page.runs.map((run) => {
      const createdAt = Date.parse(run.createdAt);
      const endedAt = run.endedAt === undefined ? io.now() : Date.parse(run.endedAt);
      const age = `${duration(io.now() - createdAt)} ago`;
      return [run.runId, run.workflowId, run.status, age, duration(endedAt - createdAt)];
    });
    io.stdout.write(table(['RUN', 'WORKFLOW', 'STATUS', 'CREATED', 'TOOK'], rows));
    if (page.nextBefore) io.stdout.write(`More: gantry runs --before ${page.nextBefore}\n`);
    return EXIT.ok;
  },
};
