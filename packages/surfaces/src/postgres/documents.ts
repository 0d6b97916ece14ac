import type { JsonObject } from '@gantry/protocol';
import type { Columns } from '../capabilities/documents/columns.ts';
import {
  cut,
  orderBy,
  type PageRow,
  positionOf,
  QueryText,
  type Scope,
} from '../capabilities/documents/query-sql.ts';
import { orAbsent } from '../capabilities/documents/refusals.ts';
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
import type { PostgresDatabase, Sql, Tx } from './connection.ts';
import { byRarest, documentOf, POSTGRES, runText } from './document-sql.ts';
import { documentWrites } from './document-writes.ts';

export interface Collection extends Scope, CollectionFacts {
  readonly lastSeq: number;
  /** Fields whose cells are still being written, and the last sequence filled. */
  readonly filling: readonly string[];
  readonly filledSeq: number;
}

interface CollectionRow {
  readonly id: number;
  readonly columns: string | null;
  readonly indexes: string[];
  readonly documents: number;
  readonly last_seq: number;
  readonly filling: string[];
  readonly filled_seq: number;
}

function collectionOf(row: CollectionRow): Collection {
  const columns: Columns | null = row.columns === null ? null : JSON.parse(row.columns);
  return {
    collection: row.id,
    columns,
    indexes: row.indexes.filter((field) => !row.filling.includes(field)),
    documents: row.documents,
    lastSeq: row.last_seq,
    filling: row.filling,
    filledSeq: row.filled_seq,
  };
}

/** `for update`: other writers of the collection wait. */
export async function findCollection(
  sql: Sql | Tx,
  { tenant, space, collection }: Target,
  lock?: 'for update',
): Promise<Collection | null> {
  const [row] = await sql<CollectionRow[]>`
    select id, columns, indexes, documents, last_seq, filling, filled_seq from collections
    where tenant = ${tenant} and space = ${space} and name = ${collection} ${lock ? sql`for update` : sql``}
  `;
  return row ? collectionOf(row) : null;
}

export function postgresDocuments(database: PostgresDatabase, limits: DocumentLimits): DocumentsPort {
  const within = <T>(
    target: Target,
    none: T,
    work: (sql: Sql, found: Collection) => Promise<T>,
  ): Promise<T> =>
    database.read(async (sql) => {
      const found = orAbsent(await findCollection(sql, target), target, limits);
      return found ? work(sql, found) : none;
    });
  const writes = documentWrites(limits);
  const fillIndexes = async (target: Target): Promise<void> => {
    while (!(await database.upkeep((tx) => writes.fill(tx, target))));
  };
  return {
    get: ({ id, ...name }, { tenant }) =>
      within<JsonObject | null>({ ...name, tenant }, null, async (sql, { collection }) => {
        const [row] = await sql<{ doc: string }[]>`
          select doc::text from documents where collection = ${collection} and id = ${id}
        `;
        return row ? documentOf(row.doc) : null;
      }),
    find: ({ space, collection, ...query }, { tenant }) =>
      within<FoundPage>({ space, collection, tenant }, { documents: [], next: null }, (sql, found) =>
        readPage(sql, found, query),
      ),
    count: ({ filter, ...name }, { tenant }) =>
      within({ ...name, tenant }, 0, async (sql, found) => {
        if (filter.kind === 'all' && filter.of.length === 0) return found.documents;
        const text = new QueryText(POSTGRES);
        const where = text.where(await byRarest(sql, found, filter), filter);
        const query = `select count(*) as many from documents where ${where}`;
        const [row] = await runText<{ many: number }>(sql, { text: query, params: text.params });
        return Number(row?.many);
      }),
    describe: (name, { tenant }) =>
      database.read(async (sql): Promise<CollectionFacts | null> => {
        const found = await findCollection(sql, { ...name, tenant });
        return found && factsOf(found);
      }),
    async declare({ columns, indexes, ...name }, call) {
      const target = targetOf(call, name);
      await database.write(call, (tx) => writes.declare(tx, target, { columns, indexes }));
      await fillIndexes(target);
      return null;
    },
    insert: ({ documents, typed, ...name }, call) =>
      database.write(call, (tx) => writes.insert(tx, targetOf(call, name), { documents, typed })),
    async patch({ space, collection, ...change }, call) {
      const target = targetOf(call, { space, collection });
      let isFilled = true;
      const patched = await database.write(call, (tx) =>
        writes.patch(tx, target, change, (indexed) => {
          isFilled = indexed;
        }),
      );
      if (!isFilled) await fillIndexes(target);
      return patched;
    },
    delete: ({ filter, matchesMax, ...name }, call) =>
      database.write(call, (tx) => writes.delete(tx, targetOf(call, name), { filter, matchesMax })),
  };
}

/** The page is chosen by size before documents are read. */
async function readPage(sql: Sql | Tx, scope: Scope, { after, ...query }: FindQuery): Promise<FoundPage> {
  const { limit, sort } = query;
  const text = new QueryText(POSTGRES);
  const page = text.page(await byRarest(sql, scope, query.filter), {
    ...query,
    after: after === null ? null : JSON.parse(after),
    limit: limit + 1,
  });
  const order = orderBy(sort);
  const before = `sum(bytes) over (order by ${order} rows unbounded preceding) - bytes`;
  const sized = `with page as (select *, ${before} as before from (${page}) as ordered)
    select page.*,
      (select doc::text from documents where documents.collection = ${text.bind(scope.collection)}
        and documents.seq = page.seq and page.before < ${text.bind(PAGE_BYTES_MAX)}) as doc
    from page order by ${order}`;
  const rows = await runText<PageRow & { doc: string | null }>(sql, { text: sized, params: text.params });
  const { kept, isMore } = cut(rows, { limit, bytesMax: PAGE_BYTES_MAX });
  const last = kept.at(-1);
  return {
    documents: kept.map(({ doc }) => documentOf(String(doc))),
    next: isMore && last ? JSON.stringify(positionOf(last, sort)) : null,
  };
}
