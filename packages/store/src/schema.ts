/**
 * The tables of a store. `schema.sql` creates them in an empty database. Data of an earlier version gets what was
 * added since, one statement for each version, in one transaction at start.
 */
import { StoreError } from './error.ts';

export interface Schema {
  /** The mark of data of version 1. Later versions are marked with their number. */
  readonly first: number;
  /** Only what older data can get in place, and an older process can ignore: indexes, tables, columns with a default. */
  readonly additions: readonly string[];
}

/** Raised by an addition. */
export const versionOf = ({ additions }: Schema): number => 1 + additions.length;

/** The statements for data with this mark. `location` is where it is. */
export function additionsAfter(found: number, schema: Schema, location: string): readonly string[] {
  const { first, additions } = schema;
  const current = versionOf(schema);
  if (found === first) return additions;
  if (found > 1 && found <= current) return additions.slice(found - 1);
  throw new StoreError(
    'schema_mismatch',
    `The data in ${location} has schema version ${found}, but this Gantry uses version ${current}.`,
  );
}
