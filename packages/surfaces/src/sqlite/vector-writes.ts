/** Writes of the vectors port. A collection's vectors and their codes change together, in one transaction. */
import { QueryText } from '../capabilities/documents/query-sql.ts';
import { norm } from '../capabilities/vector/metric.ts';
import {
  type CollectionShape,
  checkDimensions,
  checkMetric,
  checkRoom,
  noCollection,
  tooManyCollections,
} from '../capabilities/vector/refusals.ts';
import type { NewVector, VectorDeletion, VectorLimits, VectorUpsert } from '../ports/vectors.ts';
import { bytesOf } from '../text.ts';
import { SQLITE, sortedJson } from './document-sql.ts';
import { rangeOf, type Sql, sequenceOf, usedBytes } from './statements.ts';
import {
  findVectorCollection,
  makeCodes,
  recode,
  removeCode,
  saveCode,
  type VectorCollection,
} from './vector-codes.ts';

type Upsert = Omit<VectorUpsert, 'collection'> & { readonly limits: VectorLimits };
type Deletion = Omit<VectorDeletion, 'collection'> & { readonly limits: VectorLimits };

export const vectorWrites = (sql: Sql) => ({
  upsert(tenant: string, name: string, { metric, vectors, limits }: Upsert): { upserted: number } {
    const shape = { dimensions: vectors[0]!.embedding.length, metric: metric ?? 'cosine' } as const;
    const collection = findOrMake(sql, tenant, name, { ...shape, limits });
    checkMetric(collection, metric);
    for (const { embedding } of vectors) checkDimensions(collection.dimensions, embedding.length);
    save(sql, collection, vectors);
    const { vectors: many } = findVectorCollection(sql, tenant, name)!;
    checkRoom({ vectors: many, usedBytes: usedBytes(sql, 'vectors', tenant) }, limits);
    return { upserted: vectors.length };
  },
  delete(tenant: string, name: string, which: Deletion): { deleted: number } {
    const collection = findVectorCollection(sql, tenant, name);
    if (!collection) throw noCollection(name);
    return { deleted: remove(sql, collection, which) };
  },
});

/** An empty collection gets the requested shape. */
function findOrMake(
  sql: Sql,
  tenant: string,
  name: string,
  { dimensions, metric, limits }: CollectionShape & { readonly limits: VectorLimits },
): VectorCollection {
  const there = findVectorCollection(sql, tenant, name);
  if (there && there.vectors > 0) return there;
  const isFull = (): boolean =>
    sql.number`select count(*) from vector_collections where tenant = ${tenant}` >= limits.collectionsMax;
  if (!there && isFull()) sql.run`delete from vector_collections where tenant = ${tenant} and vectors = 0`;
  if (!there && isFull()) throw tooManyCollections(limits);
  sql.run`
    insert into vector_collections (tenant, name, dimensions, metric)
    values (${tenant}, ${name}, ${dimensions}, ${metric})
    on conflict do update
      set dimensions = excluded.dimensions, metric = excluded.metric, codes_changed = 0, recoded_to = null
  `;
  if (metric === 'cosine') makeCodes(sql, dimensions);
  return findVectorCollection(sql, tenant, name)!;
}

function save(sql: Sql, to: VectorCollection, vectors: readonly NewVector[]): void {
  const hasCodes = to.metric === 'cosine';
  let row = to.next;
  for (const { id, embedding, metadata } of vectors) {
    const doc = metadata && sortedJson(metadata);
    const blob = new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
    const bytes = blob.byteLength + bytesOf(id) + bytesOf(doc ?? '');
    const there = sql.get<Seq>`select seq from vectors where collection = ${to.id} and id = ${id}`;
    const seq = there?.seq ?? sequenceOf(to.id, row++);
    if (there)
      sql.run`
        update vectors set embedding = ${blob}, norm = ${norm(embedding)}, doc = jsonb(${doc}), bytes = ${bytes}
        where seq = ${seq}
      `;
    else
      sql.run`
        insert into vectors values (${seq}, ${to.id}, ${id}, ${blob}, ${norm(embedding)}, jsonb(${doc}), ${bytes})
      `;
    if (hasCodes && there) removeCode(sql, to, seq);
    if (hasCodes) saveCode(sql, to, seq, embedding);
  }
  sql.run`update vector_collections set next = ${row} where id = ${to.id}`;
  if (hasCodes) recode(sql, to, vectors.length);
}

interface Seq {
  readonly seq: number;
}

function remove(sql: Sql, from: VectorCollection, { ids, filter, limits }: Deletion): number {
  const text = new QueryText(SQLITE);
  const [first, after] = rangeOf(from.id);
  const within =
    ids === null
      ? `seq >= ${text.bind(first)} and seq < ${text.bind(after)}`
      : `collection = ${text.bind(from.id)} and id in (select value from json_each(${text.bind(JSON.stringify(ids))}))`;
  const matched = `select seq from vectors where ${within} and ${text.condition(filter)} ${text.limit(limits.deletedMax)}`;
  const gone = sql.select<Seq>(`delete from vectors where seq in (${matched}) returning seq`, text.params);
  if (from.metric !== 'cosine') return gone.length;
  for (const { seq } of gone) removeCode(sql, from, seq);
  recode(sql, from, gone.length);
  return gone.length;
}
