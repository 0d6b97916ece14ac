/**
 * Indexes of collections; the caller holds the lock of the collection.
 *
 * I1  From the moment on that a field is listed, triggers keep its cells for documents that come, change or go.
 * I2  For those that are there, cells are written in steps, each a transaction: one for all would not end in time.
 *     Filters look into the cells of a field when all of them are there.
 * I3  Where filling stopped is stored: the next caller, in any process, goes on from there.
 */
import { INDEXES_MAX } from '../ports/documents.ts';
import type { Tx } from './connection.ts';
import type { Collection } from './documents.ts';

const STEP_DOCUMENTS = 1_000;

/** The first step, which is the last of a small collection. Answers whether nothing is left. */
export async function index(tx: Tx, found: Collection, fields: readonly string[]): Promise<boolean> {
  const { collection, indexes, filling } = found;
  const listed = [...indexes, ...filling];
  const added = fields.filter((field) => field !== 'id' && !listed.includes(field));
  // Fields beyond the room for indexes are looked for without one
  const fitting = added.slice(0, INDEXES_MAX - listed.length);
  if (fitting.length === 0) return filling.length === 0;
  const unfilled = [...filling, ...fitting];
  await tx`
    update collections set indexes = ${[...indexes, ...unfilled]}, filling = ${unfilled}, filled_seq = 0
    where id = ${collection}
  `;
  return fillStep(tx, { ...found, filling: unfilled, filledSeq: 0 });
}

/** I3. Answers whether nothing is left. */
export async function fillStep(tx: Tx, { collection, filling, filledSeq }: Collection): Promise<boolean> {
  if (filling.length === 0) return true;
  // Else a server that does not know the table yet sorts all that are left, in every step
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
