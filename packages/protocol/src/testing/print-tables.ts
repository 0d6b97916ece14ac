/** The text of `tables.ts`. As a program: writes it (`npm run tables`). */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { resourceName, type Wire } from '../wire.ts';

export const TABLES_FILE = path.join(import.meta.dirname, '../tables.ts');

const HEAD = `/**
 * The names of resources and their methods, made from \`resources/\` by \`npm run tables\`. This module imports
 * nothing, so that browsers load little.
 */
`;

const keyText = (key: string): string => (/^\w+$/.test(key) ? key : `'${key}'`);

const LINE_MAX = 110;

/** In the layout of the formatter: on one line if it fits there. `before` is what precedes it on its line. */
function text(value: unknown, before: string, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `'${value}'`;
  const members = Object.entries(value).map(([key, each]) => [`${keyText(key)}: `, each] as const);
  const flat = `{ ${members.map(([key, each]) => key + text(each, '')).join(', ')} }`;
  if (before.length + flat.length < LINE_MAX && !flat.includes('\n')) return flat;
  const inner = `${indent}  `;
  const lines = members.map(([key, each]) => `${inner}${key}${text(each, inner + key, inner)},\n`);
  return `{\n${lines.join('')}${indent}}`;
}

/** `exported` is the module of the list: each of its wires is named after its path. */
export function tablesText(exported: Readonly<Record<string, unknown>>): string {
  const wires = Object.entries(exported).filter(([name]) => name.endsWith('Wire'));
  const tables = wires.map(([name, wire]): [string, unknown] => {
    const { table } = wire as Wire;
    const expected = `${resourceName(table.path)}Wire`;
    if (name !== expected)
      throw new Error(`The wire of the path ${table.path} is exported as ${name}. Name it ${expected}.`);
    return [name.slice(0, -'Wire'.length), table];
  });
  const sorted = Object.fromEntries(tables.sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${HEAD}export const TABLES = ${text(sorted, 'export const TABLES = ')} as const;\n`;
}

if (import.meta.main) writeFileSync(TABLES_FILE, tablesText(await import('../resources/index.ts')));
