/** Settings from flags and environment. A table gives the name, meaning and parser of each. Flags have precedence. */
import { parseArgs } from 'node:util';
import { didYouMean } from '@gantry/protocol';
import { type Environment, type Read, SettingsError } from './setting-readers.ts';

export interface Setting<T = unknown> {
  readonly env: string;
  readonly flag: string | undefined;
  readonly text: string;
  readonly read: Read<T>;
}

export type SettingTable = Readonly<Record<string, Setting>>;
export type SettingsOf<T extends SettingTable> = { readonly [name in keyof T]: ReturnType<T[name]['read']> };

/** @example setting('GANTRY_PORT --port: port to listen on', read.whole(7070, 0, 65_535)) */
export function setting<T>(line: string, read: Read<T>): Setting<T> {
  const [, env = '', flag, text = ''] = /^(\w+)(?: --([a-z-]+))?: (.*)$/.exec(line) ?? [];
  return { env, flag, text: read.fallback === undefined ? text : `${text} (${read.fallback})`, read };
}

/** The given texts; an empty one counts as not given. An unknown flag is refused by name. */
export function givenTexts<T extends SettingTable>(
  table: T,
  args: readonly string[],
  env: Environment,
): { readonly [name in keyof T]: string | undefined } {
  const flags = readFlags(table, args);
  const textOf = ({ flag, env: name }: Setting) => (flag && flags[flag]) || env[name] || undefined;
  return mapped(table, (each) => textOf(each)) as { [name in keyof T]: string | undefined };
}

export function readTable<T extends SettingTable>(
  table: T,
  args: readonly string[],
  env: Environment,
): SettingsOf<T> {
  const texts = givenTexts(table, args, env);
  const flags = readFlags(table, args);
  // Errors use the name by which the setting was given
  const nameOf = ({ flag, env: name }: Setting): string => (flag && flags[flag] ? `--${flag}` : name);
  return mapped(table, (each, name) => each.read(texts[name], nameOf(each), env)) as SettingsOf<T>;
}

const mapped = (table: SettingTable, map: (setting: Setting, name: string) => unknown) =>
  Object.fromEntries(Object.entries(table).map(([name, each]) => [name, map(each, name)]));

function readFlags(table: SettingTable, args: readonly string[]): Environment {
  const names = Object.values(table).flatMap(({ flag }) => flag ?? []);
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) checkFlag(names, token);
  return values as Environment;
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

function checkFlag(names: readonly string[], token: Token): void {
  if (token.kind === 'option-terminator') return;
  if (token.kind === 'positional')
    throw new SettingsError(`"${token.value}" is not a flag. See all flags: --help`);
  const { name, rawName, value } = token;
  if (!names.includes(name))
    throw new SettingsError(
      `There is no flag ${rawName}.${didYouMean(name, names, '--') || ' See all flags: --help'}`,
    );
  if (value === undefined || value.startsWith('--'))
    throw new SettingsError(`${rawName} needs a value: ${rawName} VALUE`);
}

export function usageOf(table: SettingTable): string {
  const settings = Object.values(table);
  const flagOf = ({ flag }: Setting) => (flag === undefined ? '' : `--${flag}`);
  const flagWidth = Math.max(...settings.map((each) => flagOf(each).length)) + 2;
  const envWidth = Math.max(...settings.map(({ env }) => env.length)) + 2;
  const rows = settings.map(
    (each) => `  ${flagOf(each).padEnd(flagWidth)}${each.env.padEnd(envWidth)}${each.text}`,
  );
  return `Settings (flag, environment, meaning):\n${rows.join('\n')}`;
}
