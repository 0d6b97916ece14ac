/** Writes to collections, each inside a transaction. An error rolls back the whole write. */
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
import type { Change, DocumentLimits, NewDocument, Patched, Target, WhenNone } from '../ports/documents.ts';
import { bytesOf } from '../text.ts';
import { dropSomeCells, RecentChanges, removeDocuments } from './document-changes.ts';
import { fill, index } from './document-indexes.ts';
import { type Match, matchesOf, type Scanned } from './document-matches.ts';
import { type Collection, findCollection, SQLITE, sortedJson } from './document-sql.ts';
import { type Sql, usedBytes } from './statements.ts';

export function documentWrites(sql: Sql) {
  const changes = new RecentChanges();
  return {
    fill: (target: Target): boolean => fill(sql, target),
    dropCells: (): boolean => dropSomeCells(sql),
    mark: (): number => changes.mark,
    declare(
      target: Target,
      { columns, indexes }: { readonly columns: Columns; readonly indexes: readonly string[] },
      limits: DocumentLimits,
    ): null {
      const found = findCollection(sql, target) ?? make(sql, target, columns, limits);
      redeclare(sql, found, columns);
      index(sql, found, indexes);
      return null;
    },
    insert(
      target: Target,
      { documents, typed }: { readonly documents: readonly NewDocument[]; readonly typed: boolean },
      limits: DocumentLimits,
    ): null {
      const found = findCollection(sql, target) ?? make(sql, target, typed ? UNDECLARED : null, limits);
      insertInto(sql, changes, found, { documents, tenant: target.tenant, limits });
      return null;
    },
    patch(
      target: Target,
      { patch, whenNone, ...change }: Change & { readonly patch: JsonObject; readonly whenNone: WhenNone },
      scanned: Scanned | null,
      limits: DocumentLimits,
    ): Patched {
      const found = findCollection(sql, target);
      const matched = found ? matchesOf(sql, changes, found, { ...change, scanned }) : [];
      if (found && matched.length > 0) {
        const columns = found.columns && fit(found.columns, patch);
        if (columns !== found.columns) saveColumns(sql, found.collection, columns);
        const modified = patchEach(sql, changes, found, { matched, patch, limits });
        checkQuota(sql, target.tenant, limits);
        return { matched: matched.length, modified, id: matched[0]!.id };
      }
      if (whenNone.do !== 'insert') orAbsent(found, target, limits);
      if (whenNone.do === 'refuse') throw noneThere();
      if (whenNone.do === 'answer') return { matched: 0, modified: 0, id: null };
      const into = found ?? make(sql, target, whenNone.typed ? UNDECLARED : null, limits);
      index(sql, into, whenNone.indexes);
      insertInto(sql, changes, into, { documents: [whenNone], tenant: target.tenant, limits });
      return { matched: 0, modified: 0, id: whenNone.id };
    },
    delete(
      target: Target,
      change: Change,
      scanned: Scanned | null,
      limits: DocumentLimits,
    ): { deleted: number } {
      const found = orAbsent(findCollection(sql, target), target, limits);
      if (!found) return { deleted: 0 };
      const matched = matchesOf(sql, changes, found, { ...change, scanned });
      removeDocuments(sql, changes, found.collection, matched);
      return { deleted: matched.length };
    },
  };
}

function make(sql: Sql, target: Target, columns: Columns | null, limits: DocumentLimits): Collection {
  const { tenant, space, collection } = target;
  const isFull = (): boolean =>
    sql.number`select count(*) from collections where tenant = ${tenant} and space = ${space}` >=
    limits.collectionsMax;
  if (isFull())
    sql.run`
      delete from collections
      where tenant = ${tenant} and space = ${space} and documents = 0 and coalesce(columns ->> 'closed', 0) = 0
    `;
  if (isFull()) throw tooManyCollections(limits);
  sql.run`
    insert into collections (tenant, space, name, columns)
    values (${tenant}, ${space}, ${collection}, ${columns && JSON.stringify(columns)})
  `;
  return findCollection(sql, target)!;
}

const saveColumns = (sql: Sql, collection: number, columns: Columns | null): unknown =>
  sql.run`update collections set columns = ${JSON.stringify(columns)} where id = ${collection}`;

function checkQuota(sql: Sql, tenant: string, limits: DocumentLimits): void {
  if (usedBytes(sql, 'documents', tenant) > limits.quotaBytes) throw quotaReached(limits);
}

/** Declares the columns of an open collection, if all its documents fit. */
function redeclare(sql: Sql, found: Collection, wanted: Columns): void {
  const columns = found.columns && declared(found.columns, wanted);
  if (!found.columns || !columns) throw otherColumns();
  const filter = misfits(found.columns, columns);
  if (filter !== null) {
    const text = new QueryText(SQLITE);
    const first = `select id from documents where ${text.where(found, filter)} order by seq limit 1`;
    const [misfit] = sql.select<{ id: string }>(first, text.params);
    if (misfit) throw misfitThere(misfit.id);
  }
  if (columns !== found.columns) saveColumns(sql, found.collection, columns);
}

interface Inserting {
  readonly documents: readonly NewDocument[];
  readonly tenant: string;
  readonly limits: DocumentLimits;
}

function insertInto(
  sql: Sql,
  changes: RecentChanges,
  found: Collection,
  { documents, tenant, limits }: Inserting,
): void {
  if (found.documents + documents.length > limits.documentsMax) throw tooManyDocuments(limits);
  const { collection } = found;
  let { columns } = found;
  for (const { id, document } of documents) {
    columns &&= fit(columns, document);
    const json = sortedJson(document);
    const inserted = sql.get<{ seq: number }>`
      insert into documents (collection, id, doc, bytes)
      values (${collection}, ${id}, jsonb(${json}), ${bytesOf(json)})
      on conflict do nothing returning seq
    `;
    if (!inserted) throw alreadyThere(id, limits);
    changes.note(collection, inserted.seq);
  }
  if (columns !== found.columns) saveColumns(sql, collection, columns);
  checkQuota(sql, tenant, limits);
}

interface Patching {
  readonly matched: readonly Match[];
  readonly patch: JsonObject;
  readonly limits: DocumentLimits;
}

function patchEach(
  sql: Sql,
  changes: RecentChanges,
  { collection, columns }: Collection,
  { matched, patch, limits }: Patching,
): number {
  let modified = 0;
  for (const { seq } of matched) {
    const { doc: before } = sql.get<{
      doc: string;
    }>`select json(doc) as doc from documents where seq = ${seq}`!;
    const after = patched(JSON.parse(before), patch);
    const json = sortedJson(after);
    if (json === before) continue;
    if (columns) checkWidth(after);
    const bytes = bytesOf(json);
    if (bytes > limits.documentBytesMax) throw tooLarge(limits);
    sql.run`update documents set doc = jsonb(${json}), bytes = ${bytes} where seq = ${seq}`;
    changes.note(collection, seq);
    modified++;
  }
  return modified;
}
