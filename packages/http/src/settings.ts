/** Settings from flags and environment; each kind of value is read here. Flags win. */
import { parseArgs } from 'node:util';

/** A setting that cannot be used, in words that its writer can act on. */
export class SettingsError extends Error {}

export interface Setting {
  readonly env: string;
  readonly flag?: string;
  readonly text: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type SettingTable<Name extends string> = Readonly<Record<Name, Setting>>;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export class SettingReader<Name extends string> {
  readonly #table: SettingTable<Name>;
  readonly #flags: Environment;
  readonly #env: Environment;

  /** An unknown flag is refused by name. */
  constructor(table: SettingTable<Name>, args: readonly string[], env: Environment) {
    this.#table = table;
    this.#flags = readFlags(table, args);
    this.#env = env;
  }

  /** An empty text counts as not given. */
  text(name: Name): string | undefined {
    const { flag, env } = this.#table[name];
    return (flag && this.#flags[flag]) || this.#env[env] || undefined;
  }

  /** Separated by commas. */
  list(name: Name, fallback = ''): string[] {
    const items = (this.text(name) ?? fallback).split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  }

  whole(name: Name, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const number = Number(text);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw this.#wrong(name, `a whole number from ${min} to ${max}`);
  }

  isOn(name: Name): boolean {
    return this.choice(name, ['0', '1'], '0') === '1';
  }

  choice<const Choice extends string>(name: Name, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.text(name) ?? fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    throw this.#wrong(name, `one of ${choices.join(', ')}`);
  }

  logLevel(name: Name): string {
    return this.choice(name, LOG_LEVELS, 'info');
  }

  /** Without a slash at its end. */
  publicUrl(name: Name): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && /^https?:\/\/[^?#]+$/.test(text)) return text.replace(/\/+$/, '');
    throw this.#wrong(name, 'an address such as https://gantry.example.org');
  }

  /** Its value is not repeated: it may hold a password. */
  databaseUrl(name: Name): string | undefined {
    const text = this.text(name);
    if (text === undefined || /^postgres(ql)?:\/\//.test(text)) return text;
    throw new SettingsError(
      `${this.#table[name].env} must start with postgres://. Leave it out to use SQLite.`,
    );
  }

  #wrong(name: Name, expected: string): SettingsError {
    return new SettingsError(`${this.#table[name].env} must be ${expected}, not "${this.text(name)}".`);
  }
}

function readFlags(table: SettingTable<string>, args: readonly string[]): Environment {
  const names = Object.values(table).flatMap(({ flag }) => flag ?? []);
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : error}\n\n${usageOf(table)}`);
  }
}

export function usageOf(table: SettingTable<string>): string {
  const settings = Object.values(table);
  const flagOf = ({ flag }: Setting) => (flag === undefined ? '' : `--${flag}`);
  const flagWidth = Math.max(...settings.map((setting) => flagOf(setting).length)) + 2;
  const envWidth = Math.max(...settings.map(({ env }) => env.length)) + 2;
  const rows = settings.map(
    (setting) => `  ${flagOf(setting).padEnd(flagWidth)}${setting.env.padEnd(envWidth)}${setting.text}`,
  );
  return `Settings (flag, environment, meaning):\n${rows.join('\n')}`;
}
