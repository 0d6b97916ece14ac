/** The command of a resource: list, show, remove, and verbs that take nothing but an id, each with --json. */
import type { Client } from '@gantry/client';
import { type Action, type Actions, runAction, usageOf, wordsMax } from './actions.ts';
import { type Call, type Command, flag, type OptionSpecs, option } from './command.ts';
import { print, printJson } from './output.ts';

const LIST_MAX = 200;

/** What is listed, and the answer of the host, which `--json` prints. */
export interface Listed<V> {
  readonly items: readonly V[];
  readonly answer: unknown;
  readonly nextBefore?: string | undefined;
}

export interface ResourceCommand<V>
  extends Pick<Command, 'name' | 'summary' | 'details' | 'options' | 'examples'> {
  /** Of an item in the usage: `scheduleId`. */
  readonly id: string;
  readonly list: (client: Client, page: { limit: number; before?: string }) => Promise<Listed<V>>;
  /** How many are listed without --limit; when absent, all are listed at once. */
  readonly listed?: number;
  readonly columns: Readonly<Record<string, (item: V, now: number) => string>>;
  /** Printed when there are none: what to do now. */
  readonly none: string;
  readonly add?: Action;
  /** By default the item as JSON. */
  readonly show?: Action;
  readonly get?: (client: Client, id: string) => Promise<unknown>;
  readonly remove: (client: Client, id: string) => Promise<unknown>;
  /** Each answers the item, which is printed as a line. */
  readonly verbs?: Readonly<Record<string, (client: Client, id: string) => Promise<V>>>;
  readonly line?: (item: V) => string;
  readonly actions?: Actions;
}

export function resourceCommand<V>(of: ResourceCommand<V>): Command {
  const { name, summary, details, examples, listed } = of;
  const actions = actionsOf(of);
  const paging = {
    limit: option('N', `ls: how many, 1 to ${LIST_MAX} (${listed})`),
    before: option('CURSOR', 'ls: go on where an earlier page ended'),
  };
  const options: OptionSpecs = {
    ...of.options,
    ...(listed !== undefined && paging),
    json: flag('print JSON'),
  };
  return {
    name,
    summary,
    ...(details !== undefined && { details }),
    usage: usageOf(name, actions),
    options,
    examples,
    words: { min: 0, max: wordsMax(actions) },
    run: (call) => runAction(name, actions, call),
  };
}

function actionsOf<V>(of: ResourceCommand<V>): Actions {
  const { id, add, get, remove, line = String } = of;
  const takes = `<${id}>`;
  const shown: Action | undefined = get && {
    takes,
    act: async (call, item = '') => printJson(call, await get(call.client, item)),
  };
  const show = of.show ?? shown;
  const verbs = Object.entries(of.verbs ?? {}).map(([name, verb]): [string, Action] => [
    name,
    {
      takes,
      async act(call, item = '') {
        const changed = await verb(call.client, item);
        print(call, changed, `${line(changed)}\n`);
      },
    },
  ]);
  return {
    ls: { act: (call) => list(call, of) },
    ...(add && { add }),
    ...(show && { show }),
    rm: {
      takes,
      async act({ client, io }, item = '') {
        await remove(client, item);
        io.stdout.write(`${item} removed\n`);
      },
    },
    ...Object.fromEntries(verbs),
    ...of.actions,
  };
}

async function list<V>(call: Call, of: ResourceCommand<V>): Promise<void> {
  const { args, client, io } = call;
  const { name, listed, columns, none } = of;
  const before = listed === undefined ? undefined : args.text('before');
  const limit = listed === undefined ? LIST_MAX : (args.whole('limit', 1, LIST_MAX) ?? listed);
  const page = await of.list(client, { limit, ...(before !== undefined && { before }) });
  const cells = Object.values(columns);
  print(call, page.answer, {
    headings: Object.keys(columns),
    rows: page.items.map((item) => cells.map((cell) => cell(item, io.now()))),
    none,
    more: page.nextBefore && `gantry ${name} ls --before ${page.nextBefore}`,
  });
}
