/**
 * Indexes of collections; the caller holds the lock of the collection.
 *
 * I1  Once a field is listed, triggers maintain its cells for inserted, changed and deleted documents.
 * I2  For existing documents, cells are written in steps, each a transaction: a single one would time out.
 *     Filters use the cells of a field once all of them exist.
 * I3  The progress of filling is stored: the next caller, in any process, continues from there.
 */
import { INDEXES_MAX } from '../ports/documents.ts';
import type { Tx } from './connection.ts';
import type { Collection } from './documents.ts';

const STEP_DOCUMENTS = 1_000;

/** The first step; for a small collection also the last. Answers whether all cells exist. */
export async function index(tx: Tx, found: Collection, fields: readonly string[]): Promise<boolean> {
  const { collection, indexes, filling } = found;
  const listed = [...indexes, ...filling];
  const added = fields.filter((field) => field !== 'id' && !listed.includes(field));
  // Fields beyond the limit are searched without an index
  const fitting = added.slice(0, INDEXES_MAX - listed.length);
  if (fitting.length === 0) return filling.length === 0;
  const unfilled = [...filling, ...fitting];
  await tx`
    update collections set indexes = ${[...indexes, ...unfilled]}, filling = ${unfilled}, filled_seq = 0
    where id = ${collection}
  `;
  return fillStep(tx, { ...found, filling: unfilled, filledSeq: 0 });
}

/** See I3. Answers whether all cells exist. */
export async function fillStep(tx: Tx, { collection, filling, filledSeq }: Collection): Promise<boolean> {
  if (filling.length === 0) return true;
  // Without this, a server without statistics for the table sorts all remaining rows in every step
  await tx`set local enable_sort = off`;
  const [step] = await tx<{ documents: number; last: number | null }[]>`
    with step as
      (select seq, doc from documents where collection = ${collection} and seq > ${filledSeq}
        order by seq limit ${STEP_DOCUMENTS}),
    filled as
      (insert into cells (collection, field, value, seq)
        select ${collection}::bigint, field, cell_of(doc, field), seq
        from step, unnest(${[...filling]}::text[]) as field on conflict do nothing)
    select count(*) as documents, max(seq) as last from step
  `;
  const isLast = step!.documents < STEP_DOCUMENTS;
  if (isLast) await tx`update collections set filling = '{}' where id = ${collection}`;
  else await tx`update collections set filled_seq = ${step!.last} where id = ${collection}`;
  return isLast;
}
