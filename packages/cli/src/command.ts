import type { Client } from '@gantry/client';
import type { Args } from './args.ts';
import type { Io } from './io.ts';
import type { Settings } from './settings.ts';
import type { Style } from './style.ts';

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** The actions that take it; all of them when absent. */
  readonly of?: readonly string[];
  /** Placeholder of the value in help. */
  readonly value?: string;
  readonly text: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** `--limit N`: `value` stands for what is given. */
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

/** What a command is run with. */
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

/** By what follows a name: `<word>` is needed, `[word]` is not; options may be named as well. */
export function wordCount(takes: string): WordCount {
  const min = takes.match(/(?<!\[)<\w+>/g)?.length ?? 0;
  return { min, max: min + (takes.match(/\[<?\w+>?\]/g)?.length ?? 0) };
}

/** A command as data: dispatch, checking and help derive from it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What follows `gantry ` on the command line. */
  readonly usage: string;
  /** Said in the command's own help, below the summary. */
  readonly details?: string;
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  /** How many words follow the name, where the usage does not say it; `passthrough` hands everything on unread. */
  readonly words?: WordCount | 'passthrough';
  /** Returns the exit code, where it is not 0. */
  run(call: Call): Promise<number | undefined> | Promise<void>;
}

/** Options every command takes. */
export const COMMON_OPTIONS: OptionSpecs = {
  url: option('URL', 'the host (GANTRY_URL; http://127.0.0.1:7070)'),
  key: option('KEY', 'API key (GANTRY_API_KEY; better there than in shell history)'),
  data: option('DIR', "the host's data folder (GANTRY_DATA_DIR; ./.gantry)"),
  help: flag('show help', { short: 'h' }),
};
