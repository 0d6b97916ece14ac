import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StoreError } from './error.ts';

export interface Schema {
  readonly sql: string;
  /** A hash of the statements: a changed schema is another version, but comments and layout do not count. */
  readonly version: number;
}

const VERSION_HEX_DIGITS = 7;

export function readSchema(path: string): Schema {
  const sql = readFileSync(path, 'utf8');
  const statements = sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ').trim();
  const version = Number.parseInt(hash('sha256', statements, 'hex').slice(0, VERSION_HEX_DIGITS), 16);
  return { sql, version };
}

/** `location` is where the data is. */
export function checkVersion(found: number, { version }: Schema, location: string): void {
  if (found === version) return;
  throw new StoreError(
    'schema_mismatch',
    `The data in ${location} has schema version ${found}, but this Gantry uses version ${version}.`,
  );
}
