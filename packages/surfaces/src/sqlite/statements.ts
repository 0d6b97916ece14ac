import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Area<Reads extends Operations = Operations, Writes extends Operations = Operations> {
  /** On a read-only connection. */
  reads(database: DatabaseSync): Reads;
  /** Inside a transaction. An error rolls back only this write. */
  writes(database: DatabaseSync): Writes;
}

export const defineArea = <Reads extends Operations, Writes extends Operations>(area: {
  reads(sql: Sql): Reads;
  writes(sql: Sql): Writes;
}): Area<Reads, Writes> => ({
  reads: (database) => area.reads(new Sql(database)),
  writes: (database) => area.writes(new Sql(database)),
});

/**
 * SQLite replans a statement with a bare parameter here on every run; measured: 10 to 40 µs for what then takes 1 to 7.
 */
export const LIMIT = 'limit ? + 0';

/** Few shapes of filters are in use; the least recently used are prepared again. */
const STATEMENTS_MAX = 200;

/**
 * Statements of one connection, prepared on first use. Values in a template are parameters.
 * Write `limit ${n} + 0`, for the same reason as `LIMIT`.
 *
 * @example
 * const row = sql.get<{ value: string }>`select value from kv where tenant = ${tenant}`;
 */
export class Sql {
  readonly database: DatabaseSync;
  readonly #fixed = new Map<TemplateStringsArray, StatementSync>();
  readonly #built = new Map<string, StatementSync>();
  readonly #hasBigInts: boolean;

  constructor(database: DatabaseSync) {
    this.database = database;
    this.#hasBigInts = typeof database.prepare('select 1 as one').get()?.one === 'bigint';
  }

  get<Row>(text: TemplateStringsArray, ...values: SQLInputValue[]): Row | undefined {
    const row = this.#statement(text).get(...values);
    return row && this.#rowOf<Row>(row);
  }

  all<Row>(text: TemplateStringsArray, ...values: SQLInputValue[]): Row[] {
    return this.#rowsOf(this.#statement(text).all(...values));
  }

  /** The first column of the first row; 0 if there is no row. */
  number(text: TemplateStringsArray, ...values: SQLInputValue[]): number {
    return Number(Object.values(this.#statement(text).get(...values) ?? {})[0] ?? 0);
  }

  /** Answers the number of changed rows. */
  run(text: TemplateStringsArray, ...values: SQLInputValue[]): number {
    return Number(this.#statement(text).run(...values).changes);
  }

  /** Runs built SQL. */
  select<Row>(text: string, params: readonly SQLInputValue[]): Row[] {
    return this.#rowsOf(this.prepare(text).all(...params));
  }

  readonly prepare = (text: string): StatementSync => {
    const statement = this.#built.get(text) ?? this.database.prepare(text);
    this.#built.delete(text);
    this.#built.set(text, statement);
    if (this.#built.size > STATEMENTS_MAX) this.#built.delete(this.#built.keys().next().value!);
    return statement;
  };

  #statement(text: TemplateStringsArray): StatementSync {
    const known = this.#fixed.get(text);
    if (known) return known;
    const statement = this.database.prepare(text.join('?'));
    this.#fixed.set(text, statement);
    return statement;
  }

  #rowsOf<Row>(rows: Record<string, unknown>[]): Row[] {
    return this.#hasBigInts ? rows.map((row) => this.#rowOf<Row>(row)) : (rows as Row[]);
  }

  /** Sequences are below 2^53. */
  #rowOf<Row>(row: Record<string, unknown>): Row {
    if (this.#hasBigInts)
      for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name]);
    return row as Row;
  }
}

export const usedBytes = (sql: Sql, area: string, tenant: string): number =>
  sql.number`select bytes from usage where area = ${area} and tenant = ${tenant}`;

/** A recorded call has nothing left to do. */
export const isRecorded = (sql: Sql, tenant: string, journalKey: string): boolean =>
  sql.number`select 1 from invocations where tenant = ${tenant} and journal_key = ${journalKey}` === 1;

/** All reads of `work` see the same snapshot. */
export function inSnapshot<T>({ database }: Sql, work: () => T): T {
  database.exec('begin');
  try {
    return work();
  } finally {
    database.exec('commit');
  }
}

/** Sequences begin with the id of the collection, so its rows are adjacent; below 2^53, exact as numbers. */
const ROWS = 2 ** 32;

/** From the first, to before the second. */
export const rangeOf = (collection: number): readonly [first: number, after: number] => [
  collection * ROWS,
  (collection + 1) * ROWS,
];

export const sequenceOf = (collection: number, row: number): number => collection * ROWS + row;
