import type { Call } from './command.ts';
import { duration, printable, table } from './style.ts';

export function printJson({ io }: Pick<Call, 'io'>, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** By heading: a member of the item, or a function of it. Undefined is printed as nothing. */
export type Columns<T> = Readonly<
  Record<string, (keyof T & string) | ((item: T, now: number) => string | number | undefined)>
>;

export interface Listing<T> {
  readonly items: readonly T[];
  readonly columns: Columns<T>;
  /** Printed if there are no items: the next step. */
  readonly none: string;
  /** The command for the next page, if there is one. */
  readonly more?: string | undefined;
}

export function listingText<T>({ items, columns, none, more }: Listing<T>, now: number): string {
  const rows = items.map((item) =>
    Object.values(columns).map((cell) =>
      printable(String((typeof cell === 'string' ? item[cell] : cell(item, now)) ?? '')),
    ),
  );
  const list = rows.length === 0 ? `${none}\n` : table(Object.keys(columns), rows);
  return more === undefined ? list : `${list}More: ${more}\n`;
}

/** Prints the value with `--json`, else the text or the list. */
export function print<T>(call: Pick<Call, 'args' | 'io'>, value: unknown, shown: string | Listing<T>): void {
  const { args, io } = call;
  if (args.flag('json')) printJson(call, value);
  else io.stdout.write(typeof shown === 'string' ? shown : listingText(shown, io.now()));
}

/** @example ago('2026-01-01T00:00:00Z', now) // '3m 2s ago' */
export const ago = (time: string, now: number): string => `${duration(now - Date.parse(time))} ago`;

/** Only the secret is written to stdout, so that it can be piped into a vault. */
export function printSecret({ args, io }: Call, made: object, secret: string, about: string): void {
  if (args.flag('json')) {
    io.stdout.write(`${JSON.stringify(made)}\n`);
    return;
  }
  io.stdout.write(`${secret}\n`);
  io.stderr.write(`${about} It is shown only once: store it now.\n`);
}
