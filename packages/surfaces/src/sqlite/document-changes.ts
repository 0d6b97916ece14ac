import type { EmbeddedDatabase } from './database.ts';
import type { Match } from './document-matches.ts';
import type { Sql } from './statements.ts';

const KEPT_MIN = 65_536;

interface Changed {
  readonly collection: number;
  readonly seq: number;
}

/** Recently changed documents, which the writer uses to update the result of a scan. May include unchanged ones. */
export class RecentChanges {
  readonly #kept: Changed[] = [];
  /** The number of the oldest kept change. A restarted writer starts at a higher number, so older marks are unknown. */
  #first = Date.now() * 1_000;

  get mark(): number {
    return this.#first + this.#kept.length;
  }

  note(collection: number, seq: number): void {
    this.#kept.push({ collection, seq });
    if (this.#kept.length < 2 * KEPT_MIN) return;
    this.#kept.splice(0, KEPT_MIN);
    this.#first += KEPT_MIN;
  }

  /** Null if the changes since then are no longer known. */
  since(mark: number, collection: number): Set<number> | null {
    if (mark < this.#first || mark > this.mark) return null;
    const later = this.#kept.slice(mark - this.#first);
    return new Set(later.filter((each) => each.collection === collection).map(({ seq }) => seq));
  }
}

/**
 * Deletes documents.
 *
 * I1  Documents are deleted at once, in the transaction of their call. If there are many, their cells are
 *     deleted later in steps, between which other writes run; measured: a cell takes longer to delete than its
 *     document.
 * I2  The remaining cells are stored: the next deletion of many continues with them.
 */
/** The most documents whose cells are deleted at once. */
const DELETED_AT_ONCE = 500;
const CELLS_AT_ONCE = 4_000;

export function removeDocuments(
  sql: Sql,
  changes: RecentChanges,
  collection: number,
  matched: readonly Match[],
): void {
  const areMany = matched.length > DELETED_AT_ONCE;
  for (const { seq } of matched) {
    if (areMany)
      sql.run`
        insert into cells_gone (seq, field, collection, value)
        select seq, field, collection, value from cells_of_documents where seq = ${seq}
      `;
    sql.run`delete from documents where seq = ${seq}`;
    changes.note(collection, seq);
  }
}

/** See I2. Answers whether no cells remain. */
export function dropSomeCells(sql: Sql): boolean {
  sql.run`
    delete from cells where (collection, field, value, seq) in
      (select collection, field, value, seq from cells_gone order by seq, field limit ${CELLS_AT_ONCE} + 0)
  `;
  const dropped = sql.run`
    delete from cells_gone where (seq, field) in
      (select seq, field from cells_gone order by seq, field limit ${CELLS_AT_ONCE} + 0)
  `;
  return dropped < CELLS_AT_ONCE;
}

export async function dropCells(database: EmbeddedDatabase, deleted: number): Promise<void> {
  if (deleted <= DELETED_AT_ONCE) return;
  while (!(await database.upkeep('documents', 'dropCells')));
}
