import type { JsonObject } from '@gantry/protocol';
import type { Filter } from '../capabilities/documents/filter.ts';
import {
  cut,
  type Page,
  type PageRow,
  positionOf,
  QueryText,
  type Scope,
} from '../capabilities/documents/query-sql.ts';
import { orAbsent, PATCHED_BYTES_MAX } from '../capabilities/documents/refusals.ts';
import {
  type CollectionFacts,
  type DocumentLimits,
  type DocumentsPort,
  type FindQuery,
  type FoundPage,
  factsOf,
  PAGE_BYTES_MAX,
  type Target,
  targetOf,
} from '../ports/documents.ts';
import type { EmbeddedDatabase } from './database.ts';
import { dropCells } from './document-changes.ts';
import { fillIndexes } from './document-indexes.ts';
import { matchReads, scanFor } from './document-matches.ts';
import { byRarest, findCollection, SQLITE } from './document-sql.ts';
import { documentWrites } from './document-writes.ts';
import { defineArea, inSnapshot, type Sql } from './statements.ts';

export const documentsArea = defineArea({
  reads: (sql) => ({
    ...matchReads(sql),
    get(target: Target, id: string, limits: DocumentLimits): JsonObject | null {
      const found = orAbsent(findCollection(sql, target), target, limits);
      const row =
        found &&
        sql.get<Doc>`select json(doc) as doc from documents where collection = ${found.collection} and id = ${id}`;
      return row ? JSON.parse(row.doc) : null;
    },
    find: (target: Target, query: FindQuery, limits: DocumentLimits): FoundPage =>
      inSnapshot(sql, () => {
        const collection = orAbsent(findCollection(sql, target), target, limits);
        return collection ? readPage(sql, collection, query) : { documents: [], next: null };
      }),
    count(target: Target, filter: Filter, limits: DocumentLimits): number {
      const collection = orAbsent(findCollection(sql, target), target, limits);
      if (!collection) return 0;
      if (filter.kind === 'all' && filter.of.length === 0) return collection.documents;
      const text = new QueryText(SQLITE);
      const where = text.where(byRarest(sql.prepare, collection, filter), filter);
      const counted = `select count(*) as many from documents where ${where}`;
      return sql.select<{ many: number }>(counted, text.params)[0]!.many;
    },
    describe(target: Target): CollectionFacts | null {
      const collection = findCollection(sql, target);
      return collection && factsOf(collection);
    },
  }),
  writes: documentWrites,
});

interface Doc {
  readonly doc: string;
}

function readPage(sql: Sql, scope: Scope, { after, ...query }: FindQuery): FoundPage {
  const { limit, sort } = query;
  const page: Page = { ...query, after: after === null ? null : JSON.parse(after), limit: limit + 1 };
  const text = new QueryText(SQLITE);
  const found = text.page(byRarest(sql.prepare, scope, query.filter), page);
  const { kept, isMore } = cut(sql.select<PageRow>(found, text.params), { limit, bytesMax: PAGE_BYTES_MAX });
  const last = kept.at(-1);
  return {
    documents: kept.map(({ seq }) =>
      JSON.parse(sql.get<Doc>`select json(doc) as doc from documents where seq = ${seq}`!.doc),
    ),
    next: isMore && last ? JSON.stringify(positionOf(last, sort)) : null,
  };
}

export function embeddedDocuments(database: EmbeddedDatabase, limits: DocumentLimits): DocumentsPort {
  return {
    get: ({ id, ...name }, call) => database.read('documents', 'get', targetOf(call, name), id, limits),
    find: ({ space, collection, ...query }, { tenant }) =>
      database.read('documents', 'find', { tenant, space, collection }, query, limits),
    count: ({ filter, ...name }, call) =>
      database.read('documents', 'count', targetOf(call, name), filter, limits),
    describe: (name, call) => database.read('documents', 'describe', targetOf(call, name)),
    async declare({ columns, indexes, ...name }, call) {
      const target = targetOf(call, name);
      await database.write('documents', 'declare', call, target, { columns, indexes }, limits);
      await fillIndexes(database, target);
      return null;
    },
    insert: ({ documents, typed, ...name }, call) =>
      database.write('documents', 'insert', call, targetOf(call, name), { documents, typed }, limits),
    async patch({ space, collection, ...change }, call) {
      const target = { tenant: call.tenant, space, collection };
      const { filter, matchesMax } = change;
      const asked = { filter, matchesMax, bytesMax: PATCHED_BYTES_MAX };
      const scanned = await scanFor(database, target, asked, call);
      const patched = await database.write('documents', 'patch', call, target, change, scanned, limits);
      // Without a scan, the documents to index are few or already indexed
      if (scanned && patched.matched === 0 && change.whenNone.do === 'insert')
        await fillIndexes(database, target);
      return patched;
    },
    async delete({ filter, matchesMax, ...name }, call) {
      const target = targetOf(call, name);
      const scanned = await scanFor(
        database,
        target,
        { filter, matchesMax, bytesMax: limits.quotaBytes },
        call,
      );
      const change = { filter, matchesMax };
      const answer = await database.write('documents', 'delete', call, target, change, scanned, limits);
      await dropCells(database, answer.deleted);
      return answer;
    },
  };
}
