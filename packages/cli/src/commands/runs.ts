import { RUN_STATUSES } from '@gantry/protocol';
import { actionCommand } from '../actions.ts';
import { type Call, flag, option } from '../command.ts';
import { ago, print } from '../output.ts';
import { duration } from '../style.ts';
import { readChoice } from '../values.ts';

const LS = { of: ['ls'] };

export const runs = actionCommand({
  name: 'runs',
  summary: 'list runs, newest first, and delete ended ones',
  usage: 'runs [ls | delete <runId>] [--status S] [--workflow ID] [--limit N] [--before CURSOR] [--json]',
  options: {
    status: option('S', RUN_STATUSES.join(', '), LS),
    workflow: option('ID', 'only runs of this workflow', LS),
    limit: option('N', 'how many, 1 to 100 (20)', LS),
    before: option('CURSOR', 'continue after an earlier page', LS),
    json: flag('print JSON'),
  },
  examples: ['gantry runs', 'gantry runs --status failed --limit 5', 'gantry runs delete RUN'],
  actions: {
    ls: { act: list },
    delete: {
      takes: '<runId>',
      async act(call, runId = '') {
        const { deleted } = await call.client.runs.delete(runId);
        print(
          call,
          { deleted },
          `${deleted.join('\n')}\n${deleted.length === 1 ? '1 run' : `${deleted.length} runs`} deleted\n`,
        );
      },
    },
  },
});

async function list(call: Call): Promise<void> {
  const { args, client } = call;
  const status = readChoice(args.text('status'), { known: RUN_STATUSES, noun: 'status' });
  const workflowId = args.text('workflow');
  const page = await client.runs.list({
    ...(status && { status }),
    ...(workflowId && { workflowId }),
    ...args.given('before'),
    limit: args.whole('limit', 1, 100) ?? 20,
  });
  print(call, page, {
    items: page.runs,
    columns: {
      RUN: 'runId',
      WORKFLOW: 'workflowId',
      STATUS: 'status',
      CREATED: ({ createdAt }, now) => ago(createdAt, now),
      TOOK: ({ createdAt, endedAt }, now) =>
        duration((endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(createdAt)),
    },
    none: 'No runs match. Start one: gantry run <workflow>',
    more: page.nextBefore && `gantry runs --before ${page.nextBefore}`,
  });
}
