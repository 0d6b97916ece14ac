/** A part of the database: what it reads and writes, as prepared statements behind plain functions. */
import type { DatabaseSync } from 'node:sqlite';

export type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Area<Reads extends Operations = Operations, Writes extends Operations = Operations> {
  /** On a connection that cannot write. */
  reads(database: DatabaseSync): Reads;
  /** Inside a transaction. What is thrown undoes this write alone. */
  writes(database: DatabaseSync): Writes;
}

export const defineArea = <Reads extends Operations, Writes extends Operations>(
  area: Area<Reads, Writes>,
): Area<Reads, Writes> => area;
