/** The environment of a command. */
import type { JsonObject } from '@gantry/protocol';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
}

export interface Input {
  readonly isTTY: boolean;
  /** Reads one line from the user; undefined at the end of input (Ctrl-D). Hidden input is not echoed. */
  ask(prompt: string, signal: AbortSignal, how?: { readonly hidden: boolean }): Promise<string | undefined>;
  /** Reads all piped input. */
  read(): Promise<string>;
}

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export const isConfirmed = async ({ stdin, signal }: Io, question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await stdin.ask(`${question} [y/N] `, signal))?.trim() ?? '');

/** Exit codes. A failed run differs from a command that could not be executed. */
export const EXIT = { ok: 0, failed: 1, error: 2, cancelled: 3, interrupted: 130 } as const;

/** A command line that cannot be executed as written. */
export class UsageError extends Error {
  readonly code: string;
  readonly details: JsonObject | undefined;

  /** `code` and `details` are those of a registry that refused the request. */
  constructor(message: string, code = 'usage', details?: JsonObject) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
