import { RUN_STATUSES } from '@gantry/protocol';
import { type Command, flag, option } from '../command.ts';
import { ago, print } from '../output.ts';
import { duration } from '../style.ts';
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
  async run(call) {
    const { args, io, client } = call;
    const status = readChoice(args.text('status'), { known: RUN_STATUSES, noun: 'status' });
    const workflowId = args.text('workflow');
    const page = await client.runs.list({
      ...(status && { status }),
      ...(workflowId && { workflowId }),
      ...args.given('before'),
      limit: args.whole('limit', 1, 100) ?? 20,
    });
    print(call, page, {
      headings: ['RUN', 'WORKFLOW', 'STATUS', 'CREATED', 'TOOK'],
      rows: page.runs.map(({ runId, workflowId, status, createdAt, endedAt }) => {
        const end = endedAt === undefined ? io.now() : Date.parse(endedAt);
        return [runId, workflowId, status, ago(createdAt, io.now()), duration(end - Date.parse(createdAt))];
      }),
      none: 'No runs match. Start one: gantry run <workflow>',
      more: page.nextBefore && `gantry runs --before ${page.nextBefore}`,
    });
  },
};
