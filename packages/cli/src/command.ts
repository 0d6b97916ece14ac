import type { Client } from '@gantry/client';
import type { Args } from './args.ts';
import type { Io } from './io.ts';
import type { Settings } from './settings.ts';
import type { Style } from './style.ts';

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** The actions that accept it; all of them if absent. */
  readonly of?: readonly string[];
  /** Placeholder of the value in help. */
  readonly value?: string;
  readonly text: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** `--limit N`: `value` is the placeholder. */
export const option = (
  value: string,
  text: string,
  more: Pick<OptionSpec, 'short' | 'multiple' | 'of'> = {},
): OptionSpec => ({ type: 'string', value, text, ...more });

/** `--json` */
export const flag = (text: string, more: Pick<OptionSpec, 'short' | 'of'> = {}): OptionSpec => ({
  type: 'boolean',
  text,
  ...more,
});

/** The context in which a command runs. */
export interface Call {
  readonly args: Args;
  readonly io: Io;
  readonly style: Style;
  readonly settings: Settings;
  readonly client: Client;
}

export interface WordCount {
  readonly min: number;
  readonly max: number;
}

/** Derived from the usage: `<word>` is required, `[word]` is optional; options may be included. */
export function wordCount(takes: string): WordCount {
  const min = takes.match(/(?<!\[)<\w+>/g)?.length ?? 0;
  return { min, max: min + (takes.match(/\[<?\w+>?\]/g)?.length ?? 0) };
}

/** A command as data: dispatch, validation and help are derived from it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The text after `gantry ` on the command line. */
  readonly usage: string;
  /** Printed in the command's own help, below the summary. */
  readonly details?: string;
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  /** The number of words after the name, if the usage does not show it; `passthrough` passes all arguments unparsed. */
  readonly words?: WordCount | 'passthrough';
  /** Returns the exit code if it is not 0. */
  run(call: Call): Promise<number | undefined> | Promise<void>;
}

/** Options that every command accepts. */
export const COMMON_OPTIONS: OptionSpecs = {
  url: option('URL', 'the host (GANTRY_URL; http://127.0.0.1:7070)'),
  key: option('KEY', 'API key (GANTRY_API_KEY; better there than in shell history)'),
  data: option('DIR', "the host's data folder (GANTRY_DATA_DIR; ./.gantry)"),
  help: flag('show help', { short: 'h' }),
};
