/** Writes to collections. Each holds the row of its collection, so writers of one take turns. */
import type { JsonObject } from '@gantry/protocol';
import { type Columns, fit, sameColumns, UNDECLARED } from '../documents/columns.ts';
import { QueryText } from '../documents/query-sql.ts';
import {
  alreadyThere,
  noneThere,
  otherColumns,
  quotaReached,
  tooLarge,
  tooManyCollections,
  tooManyDocuments,
  tooManyMatch,
} from '../documents/refusals.ts';
import {
  type Change,
  type DocumentLimits,
  INDEXES_MAX,
  type NewDocument,
  type Patched,
  type WhenNone,
} from '../ports/documents.ts';
import type { Tx } from './connection.ts';
import { POSTGRES } from './document-sql.ts';
import { type Collection, type CollectionRow, collectionOf, type Place } from './documents.ts';
import { runText } from './run-text.ts';

export function documentWrites(limits: DocumentLimits) {
  return {
    async declare(
      tx: Tx,
      place: Place,
      { columns, indexes }: { readonly columns: Columns; readonly indexes: readonly string[] },
    ): Promise<null> {
      const found = (await hold(tx, place)) ?? (await make(tx, place, columns, limits));
      if (!found.columns || !sameColumns(found.columns, columns)) throw otherColumns();
      await index(tx, found, indexes);
      return null;
    },
    async insert(
      tx: Tx,
      place: Place,
      { documents, typed }: { readonly documents: readonly NewDocument[]; readonly typed: boolean },
    ): Promise<null> {
      const found = (await hold(tx, place)) ?? (await make(tx, place, typed ? UNDECLARED : null, limits));
      await insertInto(tx, found, documents, limits);
      await checkQuota(tx, place.tenant, limits);
      return null;
    },
    async patch(
      tx: Tx,
      place: Place,
      { patch, whenNone, ...change }: Change & { readonly patch: JsonObject; readonly whenNone: WhenNone },
    ): Promise<Patched> {
      // Made before it is searched: another writer may have made it, and put in what is sought, meanwhile
      const found =
        (await hold(tx, place)) ??
        (whenNone.do === 'insert' ? await make(tx, place, whenNone.typed ? UNDECLARED : null, limits) : null);
      const patched = found && (await patchEach(tx, found, { ...change, patch }, limits));
      if (patched?.matched) {
        await checkQuota(tx, place.tenant, limits);
        return patched;
      }
      if (whenNone.do === 'refuse') throw noneThere();
      if (!found || whenNone.do === 'answer') return { matched: 0, modified: 0, id: null };
      await index(tx, found, whenNone.indexes);
      await insertInto(tx, found, [whenNone], limits);
      await checkQuota(tx, place.tenant, limits);
      return { matched: 0, modified: 0, id: whenNone.id };
    },
    async delete(tx: Tx, place: Place, { filter, matchesMax }: Change): Promise<{ deleted: number }> {
      const found = await hold(tx, place);
      if (!found) return { deleted: 0 };
      const text = new QueryText(POSTGRES);
      const matched = `select seq from documents where ${text.where(found, filter)} limit ${text.bind(matchesMax + 1)}`;
      const removal = `delete from documents where collection = ${text.bind(found.collection)} and seq in (${matched})`;
      const { count } = await runText(tx, { text: removal, params: text.params });
      if (count > matchesMax) throw tooManyMatch(matchesMax);
      return { deleted: count };
    },
  };
}

async function hold(tx: Tx, { tenant, space, collection }: Place): Promise<Collection | null> {
  const [row] = await tx<CollectionRow[]>`
    select id, columns, indexes, documents, last_seq from collections
    where tenant = ${tenant} and space = ${space} and name = ${collection} for update
  `;
  return collectionOf(row);
}

/** Of writers that make one at once, one does; the others then hold what it made. */
async function make(
  tx: Tx,
  place: Place,
  columns: Columns | null,
  limits: DocumentLimits,
): Promise<Collection> {
  const { tenant, space, collection } = place;
  const isFull = async (): Promise<boolean> => {
    const [found] = await tx<{ many: number }[]>`
      select count(*) as many from collections where tenant = ${tenant} and space = ${space}
    `;
    return Number(found?.many) >= limits.collectionsMax;
  };
  if (await isFull()) {
    await dropEmpty(tx, place);
    if (await isFull()) throw tooManyCollections(limits);
  }
  await tx`
    insert into collections (tenant, space, name, columns)
    values (${tenant}, ${space}, ${collection}, ${columns && JSON.stringify(columns)})
    on conflict do nothing
  `;
  const made = await hold(tx, place);
  if (!made) throw new Error(`The collection ${collection} is gone`);
  return made;
}

/** Those that were declared stay. */
const dropEmpty = (tx: Tx, { tenant, space }: Place) => tx`
  delete from collections where id in
    (select id from collections where tenant = ${tenant} and space = ${space} and documents = 0
      and (columns is null or columns::jsonb -> 'closed' = 'false') for update skip locked)
`;

/** Fields beyond the room for indexes are looked for without one. */
async function index(tx: Tx, { collection, indexes }: Collection, fields: readonly string[]): Promise<void> {
  const added = fields.filter((field) => field !== 'id' && !indexes.includes(field));
  const fitting = added.slice(0, INDEXES_MAX - indexes.length);
  if (fitting.length === 0) return;
  await tx`update collections set indexes = ${[...indexes, ...fitting]} where id = ${collection}`;
  await tx`
    insert into cells (collection, field, value, seq)
    select collection, field, cell_of(doc, field), seq
    from documents, unnest(${fitting}::text[]) as field where collection = ${collection}
  `;
}

async function insertInto(
  tx: Tx,
  found: Collection,
  documents: readonly NewDocument[],
  limits: DocumentLimits,
): Promise<void> {
  const { collection, lastSeq } = found;
  if (found.documents + documents.length > limits.documentsMax) throw tooManyDocuments(limits);
  const columns = documents.reduce(
    (fitted: Columns | null, { document }) => fitted && fit(fitted, document),
    found.columns,
  );
  const ids = documents.map(({ id }) => id);
  const docs = documents.map(({ document }) => JSON.stringify(document));
  const inserted = await tx<{ id: string }[]>`
    insert into documents (collection, seq, id, doc, bytes)
    select ${collection}, ${lastSeq} + place, id, doc::jsonb, octet_length(doc)
    from unnest(${ids}::text[], ${docs}::text[]) with ordinality as given (id, doc, place)
    on conflict do nothing returning id
  `;
  if (inserted.length < documents.length) throw alreadyThere(missing(ids, inserted));
  await tx`
    update collections set last_seq = ${lastSeq + documents.length}, columns = ${columns && JSON.stringify(columns)}
    where id = ${collection}
  `;
}

/** The first id that was there before, or earlier in the list. */
function missing(ids: readonly string[], inserted: readonly { readonly id: string }[]): string {
  const left = new Set(inserted.map(({ id }) => id));
  return ids.find((id) => !left.delete(id)) ?? '';
}

interface PatchedRow extends Patched {
  /** Of those that changed, in bytes. */
  readonly largest: number | null;
}

async function patchEach(
  tx: Tx,
  found: Collection,
  { filter, matchesMax, patch }: Change & { readonly patch: JsonObject },
  limits: DocumentLimits,
): Promise<Patched> {
  const text = new QueryText(POSTGRES);
  const collection = text.bind(found.collection);
  const merged = `(documents.doc || ${text.bind(JSON.stringify(patch))}::text::jsonb)`;
  const where = text.where(found, filter);
  const limit = text.bind(matchesMax + 1);
  const patching = `with matched as materialized
      (select seq, id from documents where ${where} order by seq limit ${limit}),
    changed as
      (update documents set doc = ${merged}, bytes = octet_length(${merged}::text) from matched
      where documents.collection = ${collection} and documents.seq = matched.seq and documents.doc <> ${merged}
      returning documents.bytes)
    select (select count(*) from matched) as matched, (select count(*) from changed) as modified,
      (select max(bytes) from changed) as largest, (select id from matched order by seq limit 1) as id`;
  const [row] = await runText<PatchedRow>(tx, { text: patching, params: text.params });
  const { matched, modified, largest, id } = row!;
  if (matched > matchesMax) throw tooManyMatch(matchesMax);
  if ((largest ?? 0) > limits.documentBytesMax) throw tooLarge(limits);
  if (matched > 0 && found.columns) await addColumns(tx, found, fit(found.columns, patch));
  return { matched, modified, id };
}

async function addColumns(
  tx: Tx,
  { collection, columns: before }: Collection,
  columns: Columns,
): Promise<void> {
  if (columns === before) return;
  await tx`update collections set columns = ${JSON.stringify(columns)} where id = ${collection}`;
}

async function checkQuota(tx: Tx, tenant: string, limits: DocumentLimits): Promise<void> {
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from usage where area = 'documents' and tenant = ${tenant}
  `;
  if ((row?.bytes ?? 0) > limits.quotaBytes) throw quotaReached(limits);
}
