/** The command of a resource: list, show, remove, and verbs that need only an id, each with --json. */
import type { Client } from '@gantry/client';
import { filtersOf, given, resourceName, type Wire } from '@gantry/protocol';
import { type Action, type ActionCommand, type Actions, actionCommand } from './actions.ts';
import { type Call, type Command, flag, type OptionSpecs, option } from './command.ts';
import { optionName, propertiesOf, readFields } from './fields.ts';
import { UsageError } from './io.ts';
import { ago, type Columns, print, printJson } from './output.ts';
import { printable } from './style.ts';
import { readChoice, shellWord } from './values.ts';

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
  create(input: object): Promise<Readonly<Record<string, unknown>>>;
  update?(id: string, fields: object): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  deliveries?(id: string, page: object): Promise<Deliveries>;
}

/** The name of the command and of an id, and methods that need nothing else, are those of the wire. */
export interface ResourceCommand<V, D>
  extends Pick<Command, 'summary' | 'details' | 'examples'>,
    Partial<Pick<ActionCommand, 'name' | 'options' | 'actions'>> {
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
  /** Printed after a change. Default: the id and the state. */
  readonly line?: (item: V) => string;
  /** The deliveries of one item, sent or received. */
  readonly deliveries?: {
    readonly states?: readonly string[];
    readonly columns: Columns<D>;
    readonly none: string;
  };
}

export const apiOf = (client: Client, { table }: Wire): Of => Reflect.get(client, resourceName(table.path));

export function resourceCommand<V, D = never>(wire: Wire, of: ResourceCommand<V, D>): Command {
  const { name = wire.table.path, summary, details, examples, listed, deliveries } = of;
  const states = deliveries?.states;
  const options: OptionSpecs = {
    ...of.options,
    ...filterOptions(wire, of.options),
    ...(states && { state: option('S', states.join(', '), { of: ['deliveries'] }) }),
    ...paging(listed, deliveries !== undefined),
    json: flag('print JSON'),
  };
  const actions = actionsOf(name, wire, of);
  return actionCommand({ name, summary, ...given({ details }), options, examples, actions });
}

/** A filter may share its option with a field of another action. */
const filterOptions = (wire: Wire, options: OptionSpecs = {}): OptionSpecs =>
  Object.fromEntries(
    filtersOf(wire).map((name) => {
      const { of = [], ...known } = options[optionName(name)] ?? option('TEXT', `its ${optionName(name)}`);
      return [optionName(name), { ...known, multiple: true, of: ['ls', ...of] }];
    }),
  );

function readFilter(wire: Wire, { args }: Call): Readonly<Record<string, string>> {
  const given = filtersOf(wire).flatMap((name) => args.list(optionName(name)).map((value) => [name, value]));
  if (given.length <= 1) return Object.fromEntries(given);
  const names = filtersOf(wire).map((name) => `--${optionName(name)}`);
  throw new UsageError(`Give one filter at a time: ${names.join(', ')}.`);
}

function paging(listed: number | undefined, hasDeliveries: boolean): OptionSpecs {
  const of = [...(listed === undefined ? [] : ['ls']), ...(hasDeliveries ? ['deliveries'] : [])];
  if (of.length === 0) return {};
  return {
    limit: option('N', `how many, 1 to ${LIST_MAX} (${listed ?? DELIVERIES_LISTED})`, { of }),
    before: option('CURSOR', 'continue after an earlier page', { of }),
  };
}

function actionsOf<V, D>(name: string, wire: Wire, of: ResourceCommand<V, D>): Actions {
  const { id = wire.table.id ?? 'id', add } = of;
  const takes = `<${id}>`;
  const show: Action['act'] = async (call, item = '') =>
    printJson(call, await apiOf(call.client, wire).get(item));
  return {
    ls: { act: (call) => list(call, name, wire, of) },
    ...(add && { add }),
    show: { takes, act: of.show ?? show },
    rm: {
      takes,
      async act(call, item = '') {
        await apiOf(call.client, wire).remove(item);
        print(call, { [id]: item, removed: true }, `${item} removed\n`);
      },
    },
    ...Object.fromEntries(plainVerbs(wire).map((verb) => [verb, methodAction(wire, verb, of.line, id)])),
    ...(of.deliveries && {
      deliveries: { takes, act: (call, item) => deliveries(call, name, wire, of, item) },
    }),
    ...of.actions,
  };
}

/** Methods of one item that take nothing and answer with it. */
const plainVerbs = ({ table, methods }: Wire): string[] =>
  Object.keys(table.item ?? {}).filter((name) => {
    const { in: input, out } = methods[name]!;
    return table.item?.[name] === 'write' && !out && Object.keys(propertiesOf(input)).length === 0;
  });

/** A method of one item or of all, with the fields of its input as options. */
export function methodAction<V>(
  wire: Wire,
  name: string,
  line: (item: V) => string = (item) => stateLine(wire, item),
  id = wire.table.id ?? 'id',
): Action {
  const { in: input, out } = wire.methods[name]!;
  const isOfItem = Object.hasOwn(wire.table.item ?? {}, name);
  return {
    ...(isOfItem && { takes: `<${id}>` }),
    async act(call, ...ids) {
      const method: (...args: unknown[]) => Promise<V> = Reflect.get(apiOf(call.client, wire), name);
      const answer = await method(...ids, await readFields(call.args, input));
      if (out) printJson(call, answer);
      else print(call, answer, `${line(answer)}\n`);
    },
  };
}

function stateLine({ table: { id = 'id' } }: Wire, item: unknown): string {
  const { [id]: name, status, state = status } = item as Record<string, unknown>;
  return `${name} ${state ?? 'changed'}`;
}

async function list<V, D>(call: Call, name: string, wire: Wire, of: ResourceCommand<V, D>): Promise<void> {
  const { args, client } = call;
  const { listed, columns, none } = of;
  const filter = readFilter(wire, call);
  const page =
    listed === undefined
      ? { limit: LIST_MAX }
      : { limit: args.whole('limit', 1, LIST_MAX) ?? listed, ...args.given('before'), ...filter };
  const answer = await (of.list ? of.list(client) : apiOf(client, wire).list(page));
  const { table } = wire;
  const { [table.list ?? table.path]: items = answer, nextBefore } = answer as Record<string, unknown>;
  const filtered = Object.entries(filter).map(([by, value]) => ` --${optionName(by)} ${shellWord(value)}`);
  const more =
    nextBefore === undefined ? undefined : `gantry ${name} ls${filtered.join('')} --before ${nextBefore}`;
  print(call, answer, { items: items as V[], columns, none, more });
}

async function deliveries<V, D>(
  call: Call,
  name: string,
  wire: Wire,
  of: ResourceCommand<V, D>,
  id = '',
): Promise<void> {
  const { args, client, io } = call;
  const { states = [], columns, none } = of.deliveries!;
  const page = await apiOf(client, wire).deliveries!(id, {
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
