/** The command of a resource without a file of its own: all of it follows from the wire. */
import type { Wire } from '@gantry/protocol';
import * as resources from '@gantry/protocol/resources';
import type { Action } from './actions.ts';
import type { Command } from './command.ts';
import { fieldOptions, readFields, type Schema } from './fields.ts';
import { UsageError } from './io.ts';
import { print, printJson } from './output.ts';
import { apiOf, methodAction, resourceCommand } from './resource-command.ts';

const LISTED = 50;

export function derivedCommand(wire: Wire): Command {
  const { table, about, methods, own = [], columns = {}, listed = LISTED, update } = wire;
  const { path } = table;
  const isMade = !own.includes('create');
  const inputs = Object.entries(methods).map(([name, { in: input }]) => [name, input] as const);
  return resourceCommand<Record<string, unknown>>(wire, {
    summary: `${about[0]?.toLowerCase()}${about.slice(1)}`,
    listed,
    columns,
    none: `No ${path.replaceAll('-', ' ')} yet.${isMade ? ` Add one: gantry ${path} add` : ''}`,
    ...(isMade && { add: addAction(wire) }),
    actions: {
      ...(update && { set: setAction(wire, update) }),
      ...Object.fromEntries(inputs.map(([name]) => [name, methodAction(wire, name)])),
    },
    options: fieldOptions([
      ...(isMade ? [['add', wire.input] as const] : []),
      ...(update ? [['set', update] as const] : []),
      ...inputs,
    ]),
    examples: [`gantry ${path}`, ...(isMade ? [`gantry ${path} add --help`] : [])],
  });
}

const addAction = (wire: Wire): Action => ({
  async act(call) {
    const added = await apiOf(call.client, wire).create(await readFields(call.args, wire.input));
    // An answer that is not the view may be shown only once
    if (wire.created) return printJson(call, added);
    const { [wire.table.id ?? 'id']: id } = added;
    print(call, added, `${id} added\n`);
  },
});

const setAction = (wire: Wire, update: Schema): Action => ({
  takes: `<${wire.table.id ?? 'id'}>`,
  async act(call, id = '') {
    const fields = await readFields(call.args, update);
    if (Object.keys(fields).length === 0) {
      const options = Object.keys(fieldOptions([['set', update]])).map((name) => `--${name}`);
      throw new UsageError(`Say what to change: ${options.join(', ')}.`);
    }
    print(call, await apiOf(call.client, wire).update!(id, fields), `${id} changed\n`);
  },
});

/** For the resources with columns that no other command is for. */
export const derivedCommands = (others: readonly Command[]): Command[] =>
  Object.entries<unknown>(resources)
    .filter(([name]) => name.endsWith('Wire'))
    .map(([, wire]) => wire as Wire)
    .filter(({ table, columns }) => columns && !others.some(({ name }) => name === table.path))
    .map(derivedCommand);
