/** Writes to collections. Each locks the row of its collection, so writers of one collection are serialized. */
import { type Columns, declared, fit, misfits, UNDECLARED } from '../capabilities/documents/columns.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import {
  alreadyThere,
  misfitThere,
  noneThere,
  orAbsent,
  otherColumns,
  quotaReached,
  tooManyCollections,
  tooManyDocuments,
  tooManyMatch,
} from '../capabilities/documents/refusals.ts';
import type { Change, DocumentLimits, NewDocument, Patched, Target, WhenNone } from '../ports/documents.ts';
import type { Tx } from './connection.ts';
import { fillStep, index } from './document-indexes.ts';
import { type Patching, patchEach } from './document-patch.ts';
import { byRarest, POSTGRES, runText } from './document-sql.ts';
import { type Collection, findCollection } from './documents.ts';
import { takeTurn, takeTurnIfNarrow, usedBytes } from './usage.ts';

const AREA = 'documents';

export function documentWrites(limits: DocumentLimits) {
  return {
    async declare(
      tx: Tx,
      target: Target,
      { columns, indexes }: { readonly columns: Columns; readonly indexes: readonly string[] },
    ): Promise<null> {
      const found = (await hold(tx, target)) ?? (await make(tx, target, columns, limits));
      await redeclare(tx, found, columns);
      await index(tx, found, indexes);
      return null;
    },
    /** Continues to fill indexes; answers whether all are filled. */
    async fill(tx: Tx, target: Target): Promise<boolean> {
      const found = await hold(tx, target);
      return !found || fillStep(tx, found);
    },
    async insert(
      tx: Tx,
      target: Target,
      { documents, typed }: { readonly documents: readonly NewDocument[]; readonly typed: boolean },
    ): Promise<null> {
      const found = (await hold(tx, target)) ?? (await make(tx, target, typed ? UNDECLARED : null, limits));
      await takeTurnIfNarrow(tx, AREA, target.tenant, limits.quotaBytes);
      await insertInto(tx, found, documents, limits);
      await checkQuota(tx, target.tenant, limits);
      return null;
    },
    async patch(
      tx: Tx,
      target: Target,
      { whenNone, ...change }: Patching & { readonly whenNone: WhenNone },
      onIndexed: (isFilled: boolean) => void,
    ): Promise<Patched> {
      // Created before the search: another writer may meanwhile have created it and inserted a match
      const found =
        (await hold(tx, target)) ??
        (whenNone.do === 'insert'
          ? await make(tx, target, whenNone.typed ? UNDECLARED : null, limits)
          : orAbsent(null, target, limits));
      if (found) await takeTurnIfNarrow(tx, AREA, target.tenant, limits.quotaBytes);
      const patched = found && (await patchEach(tx, found, change, limits));
      if (patched?.matched) {
        await checkQuota(tx, target.tenant, limits);
        return patched;
      }
      if (whenNone.do === 'refuse') throw noneThere();
      if (!found || whenNone.do === 'answer') return { matched: 0, modified: 0, id: null };
      onIndexed(await index(tx, found, whenNone.indexes));
      await insertInto(tx, found, [whenNone], limits);
      await checkQuota(tx, target.tenant, limits);
      return { matched: 0, modified: 0, id: whenNone.id };
    },
    async delete(tx: Tx, target: Target, { filter, matchesMax }: Change): Promise<{ deleted: number }> {
      const found = orAbsent(await hold(tx, target), target, limits);
      if (!found) return { deleted: 0 };
      const text = new QueryText(POSTGRES);
      const where = text.where(await byRarest(tx, found, filter), filter);
      const matched = `select seq from documents where ${where} ${text.limit(matchesMax + 1)}`;
      const removal = `delete from documents where collection = ${text.bind(found.collection)} and seq in (${matched})`;
      const { count } = await runText(tx, { text: removal, params: text.params });
      if (count > matchesMax) throw tooManyMatch(matchesMax);
      return { deleted: count };
    },
  };
}

const hold = (tx: Tx, target: Target) => findCollection(tx, target, 'for update');

/** Declares the columns of an open collection, if all its documents fit. */
async function redeclare(tx: Tx, found: Collection, wanted: Columns): Promise<void> {
  const columns = found.columns && declared(found.columns, wanted);
  if (!found.columns || !columns) throw otherColumns();
  const filter = misfits(found.columns, columns);
  const text = new QueryText(POSTGRES);
  const [misfit] =
    filter === null
      ? []
      : await runText<{ id: string }>(tx, {
          text: `select id from documents where ${text.where(found, filter)} order by seq limit 1`,
          params: text.params,
        });
  if (misfit) throw misfitThere(misfit.id);
  await tx`update collections set columns = ${JSON.stringify(columns)} where id = ${found.collection}`;
}

/** Creation is serialized, which keeps the limit. If another writer created it first, locks that one. */
async function make(
  tx: Tx,
  target: Target,
  columns: Columns | null,
  limits: DocumentLimits,
): Promise<Collection> {
  const { tenant, space, collection } = target;
  await takeTurn(tx, 'collections', tenant, space);
  const there = await hold(tx, target);
  if (there) return there;
  const isFull = async (): Promise<boolean> => {
    const [found] = await tx<{ many: number }[]>`
      select count(*) as many from collections where tenant = ${tenant} and space = ${space}
    `;
    return Number(found?.many) >= limits.collectionsMax;
  };
  if (await isFull()) {
    await dropEmpty(tx, target);
    if (await isFull()) throw tooManyCollections(limits);
  }
  await tx`
    insert into collections (tenant, space, name, columns)
    values (${tenant}, ${space}, ${collection}, ${columns && JSON.stringify(columns)})
    on conflict do nothing
  `;
  const made = await hold(tx, target);
  if (!made) throw new Error(`The collection ${collection} is gone`);
  return made;
}

/** Declared collections are kept. */
const dropEmpty = (tx: Tx, { tenant, space }: Target) => tx`
  delete from collections where id in
    (select id from collections where tenant = ${tenant} and space = ${space} and documents = 0
      and (columns is null or columns::jsonb -> 'closed' = 'false') for update skip locked)
`;

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
    select ${collection}, ${lastSeq} + position, id, doc::jsonb, octet_length(doc)
    from unnest(${ids}::text[], ${docs}::text[]) with ordinality as given (id, doc, position)
    on conflict do nothing returning id
  `;
  if (inserted.length < documents.length) throw alreadyThere(missing(ids, inserted), limits);
  await tx`
    update collections set last_seq = ${lastSeq + documents.length}, columns = ${columns && JSON.stringify(columns)}
    where id = ${collection}
  `;
}

/** The first id that existed before, or occurs earlier in the list. */
function missing(ids: readonly string[], inserted: readonly { readonly id: string }[]): string {
  const left = new Set(inserted.map(({ id }) => id));
  return ids.find((id) => !left.delete(id)) ?? '';
}

async function checkQuota(tx: Tx, tenant: string, limits: DocumentLimits): Promise<void> {
  if ((await usedBytes(tx, AREA, tenant)) > limits.quotaBytes) throw quotaReached(limits);
}
