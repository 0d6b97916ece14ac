/**
 * Indexes of collections.
 *
 * I1  From the moment on that a field is listed, triggers keep its cells for documents that come, change or go.
 * I2  For those that are there, cells are written in steps, between which others write. Filters look into the cells
 *     of a field when all of them are there.
 * I3  Where filling stopped is stored: the next caller goes on from there.
 */
import type { DatabaseSync } from 'node:sqlite';
import { INDEXES_MAX } from '../ports/documents.ts';
import type { EmbeddedDatabase } from './database.ts';
import { type Collection, findingCollection, type Target } from './document-sql.ts';
import { LIMIT } from './statements.ts';

/** Measured: 25 ms with 8 fields. */
const STEP_DOCUMENTS = 1_000;

const STEP = `
  select count(*) as documents, max(seq) as last from
    (select seq from documents where collection = ? and seq > ? order by seq ${LIMIT})
`;
/** Exported for its plan. */
export const FILL = `
  insert or ignore into cells (collection, field, value, seq)
  select collection, field, value, seq from cells_of_documents
  where collection = ? and seq > ? and seq <= ? and field in (select value from json_each(?))
`;

export function indexWrites(database: DatabaseSync) {
  const existing = findingCollection(database);
  const list = database.prepare(
    'update collections set indexes = ?, filling = ?, filled_seq = 0 where id = ?',
  );
  const filledSeq = database.prepare('select filled_seq from collections where id = ?');
  const step = database.prepare(STEP);
  const fill = database.prepare(FILL);
  const goOn = database.prepare('update collections set filled_seq = ? where id = ?');
  const end = database.prepare(`update collections set filling = '[]' where id = ?`);
  /** Answers whether nothing is left. */
  const fillStep = (collection: number, filling: readonly string[]): boolean => {
    const from = Number(filledSeq.get(collection)?.filled_seq);
    const reached = step.get(collection, from, STEP_DOCUMENTS);
    const [documents, last] = [Number(reached?.documents), Number(reached?.last)];
    if (documents > 0) fill.run(collection, from, last, JSON.stringify(filling));
    if (documents === STEP_DOCUMENTS) goOn.run(last, collection);
    else end.run(collection);
    return documents !== STEP_DOCUMENTS;
  };
  return {
    /** The first step, which is the last of a small collection. Fields beyond the room are looked for without an index. */
    index({ collection, indexes, filling }: Collection, fields: readonly string[]): void {
      const listed = [...indexes, ...filling];
      const added = fields.filter((field) => field !== 'id' && !listed.includes(field));
      const fitting = added.slice(0, INDEXES_MAX - listed.length);
      if (fitting.length === 0) return;
      const unfilled = [...filling, ...fitting];
      list.run(JSON.stringify([...indexes, ...unfilled]), JSON.stringify(unfilled), collection);
      fillStep(collection, unfilled);
    },
    /** I3. Answers whether nothing is left. */
    fill(target: Target): boolean {
      const found = existing(target);
      return !found || found.filling.length === 0 || fillStep(found.collection, found.filling);
    },
  };
}

export async function fillIndexes(database: EmbeddedDatabase, target: Target): Promise<void> {
  while (!(await database.upkeep('documents', 'fill', target)));
}
