/**
 * Indexes of collections.
 *
 * I1  Once a field is listed, triggers maintain its cells for inserted, changed and deleted documents.
 * I2  For existing documents, cells are written in steps, between which other writes run. Filters use the
 *     cells of a field once all of them exist.
 * I3  The progress of filling is stored: the next caller continues from there.
 */
import { INDEXES_MAX, type Target } from '../ports/documents.ts';
import type { EmbeddedDatabase } from './database.ts';
import { type Collection, findCollection } from './document-sql.ts';
import type { Sql } from './statements.ts';

/** Measured: 25 ms with 8 fields. */
const STEP_DOCUMENTS = 1_000;

/** Exported to test its query plan. */
export const FILL = `
  insert or ignore into cells (collection, field, value, seq)
  select collection, field, value, seq from cells_of_documents
  where collection = ? and seq > ? and seq <= ? and field in (select value from json_each(?))
`;

/** The first step; for a small collection also the last. Fields beyond the limit are searched without an index. */
export function index(
  sql: Sql,
  { collection, indexes, filling }: Collection,
  fields: readonly string[],
): void {
  const listed = [...indexes, ...filling];
  const added = fields.filter((field) => field !== 'id' && !listed.includes(field));
  const fitting = added.slice(0, INDEXES_MAX - listed.length);
  if (fitting.length === 0) return;
  const unfilled = [...filling, ...fitting];
  sql.run`
    update collections set indexes = ${JSON.stringify([...indexes, ...unfilled])}, filling = ${JSON.stringify(unfilled)},
      filled_seq = 0
    where id = ${collection}
  `;
  fillStep(sql, collection, unfilled);
}

/** See I3. Answers whether all cells exist. */
export function fill(sql: Sql, target: Target): boolean {
  const found = findCollection(sql, target);
  return !found || found.filling.length === 0 || fillStep(sql, found.collection, found.filling);
}

function fillStep(sql: Sql, collection: number, filling: readonly string[]): boolean {
  const from = sql.number`select filled_seq from collections where id = ${collection}`;
  const { documents, last } = sql.get<{ documents: number; last: number }>`
    select count(*) as documents, max(seq) as last from
      (select seq from documents where collection = ${collection} and seq > ${from}
        order by seq limit ${STEP_DOCUMENTS} + 0)
  `!;
  if (documents > 0) sql.prepare(FILL).run(collection, from, last, JSON.stringify(filling));
  if (documents === STEP_DOCUMENTS)
    sql.run`update collections set filled_seq = ${last} where id = ${collection}`;
  else sql.run`update collections set filling = '[]' where id = ${collection}`;
  return documents !== STEP_DOCUMENTS;
}

export async function fillIndexes(database: EmbeddedDatabase, target: Target): Promise<void> {
  while (!(await database.upkeep('documents', 'fill', target)));
}
