import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** The files `0001-*.sql`, `0002-*.sql`, ... of a folder, in their order. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ version: Number.parseInt(name, 10), sql: readFileSync(join(folder, name), 'utf8') }));
}
