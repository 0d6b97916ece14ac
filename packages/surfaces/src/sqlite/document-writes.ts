/** Writes to collections, each inside a transaction. What is thrown undoes all of it. */
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '@gantry/protocol';
import {
  type Columns,
  checkWidth,
  declared,
  fit,
  misfits,
  UNDECLARED,
} from '../capabilities/documents/columns.ts';
import { patched } from '../capabilities/documents/patch.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import {
  alreadyThere,
  misfitThere,
  noneThere,
  orAbsent,
  otherColumns,
  quotaReached,
  tooLarge,
  tooManyCollections,
  tooManyDocuments,
} from '../capabilities/documents/refusals.ts';
import type { Change, DocumentLimits, NewDocument, Patched, WhenNone } from '../ports/documents.ts';
import { bytesOf } from '../text.ts';
import { RecentChanges, removing } from './document-changes.ts';
import { indexWrites } from './document-indexes.ts';
import { type Match, matchingDocuments, type Scanned } from './document-matches.ts';
import { type Collection, findingCollection, SQLITE, sortedJson, type Target } from './document-sql.ts';
import { preparing } from './statements.ts';

export function documentWrites(database: DatabaseSync) {
  const collections = collectionWrites(database);
  const changes = new RecentChanges();
  const insertInto = inserting(database, collections, changes);
  const redeclare = redeclaring(database, collections);
  const { existing, make } = collections;
  const { index, fill } = indexWrites(database);
  return {
    fill,
    mark: (): number => changes.mark,
    declare(
      target: Target,
      { columns, indexes }: { readonly columns: Columns; readonly indexes: readonly string[] },
      limits: DocumentLimits,
    ): null {
      const found = existing(target) ?? make(target, columns, limits);
      redeclare(found, columns);
      index(found, indexes);
      return null;
    },
    insert(
      target: Target,
      { documents, typed }: { readonly documents: readonly NewDocument[]; readonly typed: boolean },
      limits: DocumentLimits,
    ): null {
      insertInto(
        existing(target) ?? make(target, typed ? UNDECLARED : null, limits),
        documents,
        target.tenant,
        limits,
      );
      return null;
    },
    ...changing(database, { collections, index, insertInto, changes }),
  };
}

function collectionWrites(database: DatabaseSync) {
  const existing = findingCollection(database);
  const many = database.prepare('select count(*) as many from collections where tenant = ? and space = ?');
  const create = database.prepare(
    'insert into collections (tenant, space, name, columns) values (?, ?, ?, ?)',
  );
  const dropEmpty = database.prepare(`
    delete from collections
    where tenant = ? and space = ? and documents = 0 and coalesce(columns ->> 'closed', 0) = 0
  `);
  const saveColumns = database.prepare('update collections set columns = ? where id = ?');
  const used = database.prepare(`select bytes from usage where area = 'documents' and tenant = ?`);
  return {
    existing,
    make(target: Target, columns: Columns | null, limits: DocumentLimits): Collection {
      const { tenant, space, collection } = target;
      const isFull = () => Number(many.get(tenant, space)?.many) >= limits.collectionsMax;
      if (isFull()) dropEmpty.run(tenant, space);
      if (isFull()) throw tooManyCollections(limits);
      create.run(tenant, space, collection, columns && JSON.stringify(columns));
      return existing(target)!;
    },
    setColumns({ collection, columns: before }: Collection, columns: Columns): void {
      if (columns !== before) saveColumns.run(JSON.stringify(columns), collection);
    },
    checkQuota(tenant: string, limits: DocumentLimits): void {
      if (Number(used.get(tenant)?.bytes ?? 0) > limits.quotaBytes) throw quotaReached(limits);
    },
  };
}

type CollectionWrites = ReturnType<typeof collectionWrites>;

/** One that is open is closed, if all in it fit. */
function redeclaring(database: DatabaseSync, { setColumns }: CollectionWrites) {
  const prepare = preparing(database);
  return (found: Collection, wanted: Columns): void => {
    const columns = found.columns && declared(found.columns, wanted);
    if (!found.columns || !columns) throw otherColumns();
    const filter = misfits(found.columns, columns);
    const text = new QueryText(SQLITE);
    const misfit =
      filter &&
      prepare(`select id from documents where ${text.where(found, filter)} order by seq limit 1`).get(
        ...text.params,
      );
    if (misfit) throw misfitThere(String(misfit.id));
    setColumns(found, columns);
  };
}

function inserting(
  database: DatabaseSync,
  { setColumns, checkQuota }: CollectionWrites,
  changed: RecentChanges,
) {
  const insert = database.prepare(`
    insert into documents (collection, id, doc, bytes) values (?, ?, jsonb(?), ?) on conflict do nothing
  `);
  return (
    collection: Collection,
    documents: readonly NewDocument[],
    tenant: string,
    limits: DocumentLimits,
  ): void => {
    if (collection.documents + documents.length > limits.documentsMax) throw tooManyDocuments(limits);
    let { columns } = collection;
    for (const { id, document } of documents) {
      columns &&= fit(columns, document);
      const json = sortedJson(document);
      const { changes, lastInsertRowid } = insert.run(collection.collection, id, json, bytesOf(json));
      if (changes === 0) throw alreadyThere(id, limits);
      changed.note(collection.collection, Number(lastInsertRowid));
    }
    if (columns) setColumns(collection, columns);
    checkQuota(tenant, limits);
  };
}

interface Changing {
  readonly collections: CollectionWrites;
  readonly index: ReturnType<typeof indexWrites>['index'];
  readonly insertInto: ReturnType<typeof inserting>;
  readonly changes: RecentChanges;
}

function changing(database: DatabaseSync, { collections, index, insertInto, changes }: Changing) {
  const matching = matchingDocuments(database, changes);
  const patchEach = patching(database, changes);
  const { remove, dropCells } = removing(database, changes);
  const { existing, make } = collections;
  return {
    dropCells,
    patch(
      target: Target,
      { patch, whenNone, ...change }: Change & { readonly patch: JsonObject; readonly whenNone: WhenNone },
      scanned: Scanned | null,
      limits: DocumentLimits,
    ): Patched {
      const found = existing(target);
      const matched = found ? matching(found, change, scanned) : [];
      if (found && matched.length > 0) {
        if (found.columns) collections.setColumns(found, fit(found.columns, patch));
        const modified = patchEach(found, matched, patch, limits);
        collections.checkQuota(target.tenant, limits);
        return { matched: matched.length, modified, id: matched[0]!.id };
      }
      if (whenNone.do !== 'insert') orAbsent(found, target, limits);
      if (whenNone.do === 'refuse') throw noneThere();
      if (whenNone.do === 'answer') return { matched: 0, modified: 0, id: null };
      const into = found ?? make(target, whenNone.typed ? UNDECLARED : null, limits);
      index(into, whenNone.indexes);
      insertInto(into, [whenNone], target.tenant, limits);
      return { matched: 0, modified: 0, id: whenNone.id };
    },
    delete(
      target: Target,
      change: Change,
      scanned: Scanned | null,
      limits: DocumentLimits,
    ): { deleted: number } {
      const found = orAbsent(existing(target), target, limits);
      if (!found) return { deleted: 0 };
      const matched = matching(found, change, scanned);
      remove(found.collection, matched);
      return { deleted: matched.length };
    },
  };
}

export function patching(database: DatabaseSync, changed: RecentChanges) {
  const read = database.prepare('select json(doc) as doc from documents where seq = ?');
  const write = database.prepare('update documents set doc = jsonb(?), bytes = ? where seq = ?');
  return (
    { collection, columns }: Collection,
    matched: readonly Match[],
    patch: JsonObject,
    limits: DocumentLimits,
  ): number => {
    let modified = 0;
    for (const { seq } of matched) {
      const before = String(read.get(seq)?.doc);
      const after = patched(JSON.parse(before), patch);
      const json = sortedJson(after);
      if (json === before) continue;
      if (columns) checkWidth(after);
      const bytes = bytesOf(json);
      if (bytes > limits.documentBytesMax) throw tooLarge(limits);
      write.run(json, bytes, seq);
      changed.note(collection, seq);
      modified++;
    }
    return modified;
  };
}
