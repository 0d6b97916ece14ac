import { parseArgs } from 'node:util';
import { didYouMean } from '@gantry/protocol';
import { COMMON_OPTIONS, type Command, type OptionSpecs, wordCount } from './command.ts';
import { UsageError } from './io.ts';

/** A command's words and options, read by name. */
export interface Args {
  readonly words: readonly string[];
  /** Names of the options that were given. */
  readonly options: readonly string[];
  text(name: string): string | undefined;
  flag(name: string): boolean;
  list(name: string): readonly string[];
  /** Those of the named text options that were given. */
  given<Name extends string>(...names: Name[]): { [name in Name]?: string };
  /** A whole number; anything else is a usage error. */
  whole(name: string, min: number, max: number): number | undefined;
}

/** The command's name is the first word that is not an option's value. */
export function splitCommand(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  const { tokens } = parseArgs({
    args: [...argv],
    options: COMMON_OPTIONS,
    strict: false,
    tokens: true,
  });
  const word = tokens.find((token) => token.kind === 'positional');
  if (!word) return { name: undefined, rest: [...argv] };
  return { name: word.value, rest: argv.filter((_, index) => index !== word.index) };
}

export function readArgs(command: Command, rest: readonly string[]): Args {
  if (command.words === 'passthrough') return argsOf([...rest], {});
  const options = { ...command.options, ...COMMON_OPTIONS };
  const parsed = parseArgs({ args: [...rest], options, strict: false, tokens: true });
  for (const token of parsed.tokens) {
    if (token.kind === 'option') checkOption(command, options, token);
  }
  const { min, max } = command.words ?? wordCount(command.usage);
  const count = parsed.positionals.length;
  if (count < min || count > max) {
    const problem =
      count < min ? 'An argument is missing' : `Unexpected argument "${parsed.positionals[max]}"`;
    throw new UsageError(`${problem}. Usage: gantry ${command.usage}`);
  }
  return argsOf(parsed.positionals, parsed.values);
}

interface OptionToken {
  name: string;
  rawName: string;
  value?: string | undefined;
}

function checkOption(command: Command, options: OptionSpecs, token: OptionToken): void {
  const spec = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
  if (!spec) {
    const hint = didYouMean(token.name, Object.keys(options), '--');
    throw new UsageError(
      `gantry ${command.name} has no option ${token.rawName}.${hint || ` See \`gantry help ${command.name}\`.`}`,
    );
  }
  if (spec.type === 'string' && token.value === undefined) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${spec.value ?? 'VALUE'}`);
  }
  if (spec.type === 'boolean' && token.value !== undefined) {
    throw new UsageError(`${token.rawName} takes no value.`);
  }
}

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

function argsOf(words: readonly string[], values: Values): Args {
  const text = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    words,
    options: Object.keys(values),
    text,
    flag: (name) => values[name] === true,
    given: (...names) =>
      Object.fromEntries(
        names.map((name) => [name, text(name)]).filter(([, value]) => value !== undefined),
      ) as { [name in (typeof names)[number]]?: string },
    list(name) {
      const value = values[name];
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
    },
    whole(name, min, max) {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (value.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    },
  };
}
