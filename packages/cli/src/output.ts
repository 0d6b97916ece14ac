import type { Call } from './command.ts';
import { duration, table } from './style.ts';

export function printJson({ io }: Pick<Call, 'io'>, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export interface Listing {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Said when there are no rows: what to do now. */
  readonly none: string;
  /** How the next page is asked for, if there is one. */
  readonly more?: string | undefined;
}

export function printListing({ io }: Pick<Call, 'io'>, { headings, rows, none, more }: Listing): void {
  io.stdout.write(rows.length === 0 ? `${none}\n` : table(headings, rows));
  if (more !== undefined) io.stdout.write(`More: ${more}\n`);
}

/** With `--json` the value, else the text or the list. */
export function print(call: Pick<Call, 'args' | 'io'>, value: unknown, shown: string | Listing): void {
  if (call.args.flag('json')) printJson(call, value);
  else if (typeof shown === 'string') call.io.stdout.write(shown);
  else printListing(call, shown);
}

/** @example ago('2026-01-01T00:00:00Z', now) // '3m 2s ago' */
export const ago = (time: string, now: number): string => `${duration(now - Date.parse(time))} ago`;

/** A secret alone goes to stdout, so that it can be piped into a vault. */
export function printSecret({ args, io }: Call, made: object, secret: string, about: string): void {
  if (args.flag('json')) {
    io.stdout.write(`${JSON.stringify(made)}\n`);
    return;
  }
  io.stdout.write(`${secret}\n`);
  io.stderr.write(`${about} It is shown this once: keep it now.\n`);
}
