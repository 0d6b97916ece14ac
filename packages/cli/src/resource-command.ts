/** The command of a resource: list, show, remove, and verbs that need only an id, each with --json. */
import type { Client } from '@gantry/client';
import { given, type Table } from '@gantry/protocol';
import { type Action, type ActionCommand, type Actions, actionCommand } from './actions.ts';
import { type Call, type Command, flag, type OptionSpecs, option } from './command.ts';
import { ago, type Columns, print, printJson } from './output.ts';
import { printable } from './style.ts';
import { readChoice } from './values.ts';

const LIST_MAX = 200;
const DELIVERIES_LISTED = 20;

interface Deliveries {
  readonly deliveries: readonly object[];
  readonly nextCursor?: string;
  readonly problem?: string;
}

/** The methods of the client. A list is an array of items, or a page of them. */
interface Of {
  list(page: { limit: number; before?: string }): Promise<object>;
  get(id: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  deliveries?(id: string, page: object): Promise<Deliveries>;
}

export interface ResourceCommand<V, Verb extends string, D>
  extends Pick<Command, 'summary' | 'details' | 'examples'>,
    Partial<Pick<ActionCommand, 'name' | 'options' | 'actions'>> {
  /** Defines the name of the command, of an id and of the listed items. */
  readonly table: Table;
  readonly of: (client: Client) => Of & Readonly<Record<Verb, (id: string) => Promise<V>>>;
  /** The placeholder of an item in the usage, if not that of the table. */
  readonly id?: string;
  readonly list?: (client: Client) => Promise<object>;
  /** The default of --limit; if absent, all are listed at once. */
  readonly listed?: number;
  readonly columns: Columns<V>;
  /** Printed if there are none: the next step. */
  readonly none: string;
  readonly add?: Action;
  /** Default: the item as JSON. */
  readonly show?: Action['act'];
  /** Each returns the item, which is printed as a line. */
  readonly verbs?: readonly Verb[];
  readonly line?: (item: V) => string;
  /** The deliveries of one item, sent or received. */
  readonly deliveries?: {
    readonly states?: readonly string[];
    readonly columns: Columns<D>;
    readonly none: string;
  };
}

export function resourceCommand<V, Verb extends string = never, D = never>(
  of: ResourceCommand<V, Verb, D>,
): Command {
  const { table, name = table.path, summary, details, examples, listed, deliveries } = of;
  const states = deliveries?.states;
  const options: OptionSpecs = {
    ...of.options,
    ...(states && { state: option('S', states.join(', '), { of: ['deliveries'] }) }),
    ...paging(listed, deliveries !== undefined),
    json: flag('print JSON'),
  };
  const actions = actionsOf(name, of);
  return actionCommand({ name, summary, ...given({ details }), options, examples, actions });
}

function paging(listed: number | undefined, hasDeliveries: boolean): OptionSpecs {
  const of = [...(listed === undefined ? [] : ['ls']), ...(hasDeliveries ? ['deliveries'] : [])];
  if (of.length === 0) return {};
  return {
    limit: option('N', `how many, 1 to ${LIST_MAX} (${listed ?? DELIVERIES_LISTED})`, { of }),
    before: option('CURSOR', 'continue after an earlier page', { of }),
  };
}

function actionsOf<V, Verb extends string, D>(name: string, of: ResourceCommand<V, Verb, D>): Actions {
  const { table, id = table.id ?? 'id', add, verbs = [], line = String } = of;
  const takes = `<${id}>`;
  const show: Action['act'] = async (call, item = '') => printJson(call, await of.of(call.client).get(item));
  const verbActions = verbs.map((verb): [string, Action] => [
    verb,
    {
      takes,
      async act(call, item = '') {
        const changed = await of.of(call.client)[verb](item);
        print(call, changed, `${line(changed)}\n`);
      },
    },
  ]);
  return {
    ls: { act: (call) => list(call, name, of) },
    ...(add && { add }),
    show: { takes, act: of.show ?? show },
    rm: {
      takes,
      async act(call, item = '') {
        await of.of(call.client).remove(item);
        print(call, { [id]: item, removed: true }, `${item} removed\n`);
      },
    },
    ...Object.fromEntries(verbActions),
    ...(of.deliveries && { deliveries: { takes, act: (call, item) => deliveries(call, name, of, item) } }),
    ...of.actions,
  };
}

async function list<V, Verb extends string, D>(
  call: Call,
  name: string,
  of: ResourceCommand<V, Verb, D>,
): Promise<void> {
  const { args, client } = call;
  const { table, listed, columns, none } = of;
  const page =
    listed === undefined
      ? { limit: LIST_MAX }
      : { limit: args.whole('limit', 1, LIST_MAX) ?? listed, ...args.given('before') };
  const answer = await (of.list ? of.list(client) : of.of(client).list(page));
  const { [table.list ?? table.path]: items = answer, nextBefore } = answer as Record<string, unknown>;
  const more = nextBefore === undefined ? undefined : `gantry ${name} ls --before ${nextBefore}`;
  print(call, answer, { items: items as V[], columns, none, more });
}

async function deliveries<V, Verb extends string, D>(
  call: Call,
  name: string,
  of: ResourceCommand<V, Verb, D>,
  id = '',
): Promise<void> {
  const { args, client, io } = call;
  const { states = [], columns, none } = of.deliveries!;
  const page = await of.of(client).deliveries!(id, {
    ...given({
      state: readChoice(args.text('state'), { known: states, noun: 'state' }),
      cursor: args.text('before'),
    }),
    limit: args.whole('limit', 1, LIST_MAX) ?? of.listed ?? DELIVERIES_LISTED,
  });
  const { nextCursor, problem } = page;
  const more = nextCursor && `gantry ${name} deliveries ${id} --before ${nextCursor}`;
  print(call, page, { items: page.deliveries as D[], columns, none, more });
  if (problem !== undefined && !args.flag('json')) io.stdout.write(`Problem: ${printable(problem)}\n`);
}

interface Sent {
  readonly deliveryId: string;
  readonly state: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly lastStatus?: number;
  readonly lastReason?: string;
}

/** Columns of sent items: those of `what` are between the state and the last attempt. */
export const sentColumns = <D extends Sent>(what: Columns<D>): Columns<D> => ({
  DELIVERY: 'deliveryId',
  STATE: 'state',
  TRIES: 'attempts',
  CREATED: ({ createdAt }, now) => ago(createdAt, now),
  ...what,
  LAST: ({ lastStatus, lastReason = '' }) => `${lastStatus ?? ''} ${lastReason}`.trim(),
});
