/** Writes of the vectors port in PostgreSQL. Each locks the row of its collection, so its writers are serialized. */
import { QueryText } from '../capabilities/documents/query-sql.ts';
import {
  type CollectionShape,
  checkDimensions,
  checkMetric,
  checkRoom,
  noCollection,
  tooManyCollections,
} from '../capabilities/vector/refusals.ts';
import type { NewVector, VectorDeletion, VectorLimits, VectorUpsert } from '../ports/vectors.ts';
import type { Sql, Tx } from './connection.ts';
import { POSTGRES, runText } from './document-sql.ts';
import { countUsage, takeTurn } from './usage.ts';

/** `searchableMax`: how many vectors of a dimension a search can scan. */
export function vectorWrites(limits: VectorLimits, searchableMax: (dimensions: number) => number) {
  return {
    async upsert(tx: Tx, tenant: string, { collection: name, metric, vectors }: VectorUpsert) {
      const shape = { dimensions: vectors[0]!.embedding.length, metric: metric ?? 'cosine' } as const;
      const collection = await collectionFor(tx, { tenant, name }, shape, limits);
      checkMetric(collection, metric);
      for (const { embedding } of vectors) checkDimensions(collection.dimensions, embedding.length);
      const { added, grown } = await save(tx, collection, vectors);
      const usedBytes = await countUsage(tx, { area: 'vectors', tenant, part: collection.id, grown });
      const vectorsMax = Math.min(limits.vectorsMax, searchableMax(collection.dimensions));
      checkRoom({ vectors: collection.vectors + added, usedBytes }, { ...limits, vectorsMax });
      return { upserted: vectors.length };
    },
    async delete(tx: Tx, tenant: string, { collection: name, ...which }: VectorDeletion) {
      const collection = await vectorCollection(tx, { tenant, name }, 'for update');
      if (!collection) throw noCollection(name);
      const { many, bytes } = await remove(tx, collection, which, limits);
      await tx`update vector_collections set vectors = vectors - ${many} where id = ${collection.id}`;
      await countUsage(tx, { area: 'vectors', tenant, part: collection.id, grown: -bytes });
      return { deleted: many };
    },
  };
}

export interface Target {
  readonly tenant: string;
  readonly name: string;
}

/** Finds or creates a collection; an empty one gets the new shape. Creation is serialized. */
async function collectionFor(
  tx: Tx,
  { tenant, name }: Target,
  { dimensions, metric }: CollectionShape,
  limits: VectorLimits,
): Promise<VectorCollection> {
  const before = await vectorCollection(tx, { tenant, name }, 'for update');
  if (!before) await takeTurn(tx, 'vector_collections', tenant);
  const there = before ?? (await vectorCollection(tx, { tenant, name }, 'for update'));
  if (there && there.vectors > 0) return there;
  const isFull = async (): Promise<boolean> => {
    const [row] = await tx<{ many: number }[]>`
      select count(*) as many from vector_collections where tenant = ${tenant}
    `;
    return row!.many >= limits.collectionsMax;
  };
  if (!there && (await isFull())) {
    await tx`
      delete from vector_collections where id in
        (select id from vector_collections where tenant = ${tenant} and vectors = 0 for update skip locked)
    `;
    if (await isFull()) throw tooManyCollections(limits);
  }
  await tx`
    insert into vector_collections (tenant, name, dimensions, metric)
    values (${tenant}, ${name}, ${dimensions}, ${metric})
    on conflict (tenant, name) do update set dimensions = excluded.dimensions, metric = excluded.metric
    where vector_collections.vectors = 0
  `;
  return (await vectorCollection(tx, { tenant, name }, 'for update'))!;
}

async function save(
  tx: Tx,
  { id: collection }: VectorCollection,
  given: readonly NewVector[],
): Promise<{ added: number; grown: number }> {
  const vectors = [...new Map(given.map((vector) => [vector.id, vector])).values()];
  const ids = vectors.map(({ id }) => id);
  const docs = vectors.map(({ metadata }) => metadata && JSON.stringify(metadata));
  const bytes = vectors.map(
    ({ id, embedding }, index) =>
      embedding.byteLength + Buffer.byteLength(id) + Buffer.byteLength(docs[index] ?? ''),
  );
  const [before] = await tx<{ many: number; bytes: number }[]>`
    select count(*) as many, coalesce(sum(bytes), 0)::bigint as bytes from vectors
    where collection = ${collection} and id = any(${ids}::text[])
  `;
  await tx`
    insert into vectors (collection, id, embedding, doc, bytes)
    select ${collection}, id, embedding::real[], doc::jsonb, bytes
    from unnest(
      ${ids}::text[], ${vectors.map(({ embedding }) => arrayText(embedding))}::text[], ${docs}::text[],
      ${bytes}::bigint[]
    ) as given (id, embedding, doc, bytes)
    on conflict (collection, id) do update set embedding = excluded.embedding, doc = excluded.doc,
      bytes = excluded.bytes
  `;
  const added = vectors.length - before!.many;
  await tx`update vector_collections set vectors = vectors + ${added} where id = ${collection}`;
  return { added, grown: bytes.reduce((sum, each) => sum + each, 0) - before!.bytes };
}

async function remove(
  tx: Tx,
  { id: collection }: VectorCollection,
  { ids, filter }: Omit<VectorDeletion, 'collection'>,
  { deletedMax }: VectorLimits,
): Promise<{ many: number; bytes: number }> {
  const text = new QueryText(POSTGRES);
  const within = `collection = ${text.bind(collection)}`;
  const which = [
    within,
    ...(ids === null
      ? []
      : [`id in (select jsonb_array_elements_text(${text.bind(JSON.stringify(ids))}::text::jsonb))`]),
    text.condition(filter),
  ].join(' and ');
  const [gone] = await runText<{ many: number; bytes: number }>(tx, {
    text: `
      with matched as (select id from vectors where ${which} ${text.limit(deletedMax)}),
        gone as (delete from vectors where ${within} and id in (select id from matched) returning bytes)
      select count(*) as many, coalesce(sum(bytes), 0)::bigint as bytes from gone
    `,
    params: text.params,
  });
  return gone!;
}

export interface VectorCollection extends CollectionShape {
  readonly id: number;
  readonly vectors: number;
}

/** `for update`: other writers of the collection wait. */
export async function vectorCollection(
  sql: Sql | Tx,
  { tenant, name }: Target,
  lock?: 'for update',
): Promise<VectorCollection | null> {
  const [row] = await sql<VectorCollection[]>`
    select id, dimensions, metric, vectors from vector_collections where tenant = ${tenant} and name = ${name}
    ${lock ? sql`for update` : sql``}
  `;
  return row ?? null;
}

export const arrayText = (vector: Float32Array): string => `{${vector.join(',')}}`;
