/** Writes of the vectors port. A collection's vectors and their codes change together, in one transaction. */
import type { DatabaseSync } from 'node:sqlite';
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
import { preparing, rangeOf, sequenceOf } from './statements.ts';
import {
  coding,
  findingVectorCollection,
  makeCodes,
  recoding,
  type VectorCollection,
} from './vector-codes.ts';

type Upsert = Omit<VectorUpsert, 'collection'> & { readonly limits: VectorLimits };
type Deletion = Omit<VectorDeletion, 'collection'> & { readonly limits: VectorLimits };

export function vectorWrites(database: DatabaseSync) {
  const collectionOf = findingVectorCollection(database);
  const collectionFor = makingCollection(database);
  const save = saving(database);
  const used = database.prepare(`select bytes from usage where area = 'vectors' and tenant = ?`);
  const remove = removing(database);
  return {
    upsert(tenant: string, name: string, { metric, vectors, limits }: Upsert): { upserted: number } {
      const shape = { dimensions: vectors[0]!.embedding.length, metric: metric ?? 'cosine' } as const;
      const collection = collectionFor(tenant, name, shape, limits);
      checkMetric(collection, metric);
      for (const { embedding } of vectors) checkDimensions(collection.dimensions, embedding.length);
      save(collection, vectors);
      const usedBytes = Number(used.get(tenant)?.bytes);
      checkRoom({ vectors: collectionOf(tenant, name)!.vectors, usedBytes }, limits);
      return { upserted: vectors.length };
    },
    delete(tenant: string, name: string, which: Deletion): { deleted: number } {
      const collection = collectionOf(tenant, name);
      if (!collection) throw noCollection(name);
      return { deleted: remove(collection, which) };
    },
  };
}

/** Finds or makes a collection; an empty one takes the shape that is asked for. */
function makingCollection(database: DatabaseSync) {
  const collectionOf = findingVectorCollection(database);
  const many = database.prepare('select count(*) as many from vector_collections where tenant = ?');
  const dropEmpty = database.prepare('delete from vector_collections where tenant = ? and vectors = 0');
  const make = database.prepare(`
    insert into vector_collections (tenant, name, dimensions, metric) values (?, ?, ?, ?)
    on conflict do update
      set dimensions = excluded.dimensions, metric = excluded.metric, codes_changed = 0, recoded_to = null
  `);
  return (
    tenant: string,
    name: string,
    { dimensions, metric }: CollectionShape,
    limits: VectorLimits,
  ): VectorCollection => {
    const there = collectionOf(tenant, name);
    if (there && there.vectors > 0) return there;
    const isFull = (): boolean => Number(many.get(tenant)?.many) >= limits.collectionsMax;
    if (!there && isFull()) dropEmpty.run(tenant);
    if (!there && isFull()) throw tooManyCollections(limits);
    make.run(tenant, name, dimensions, metric);
    if (metric === 'cosine') makeCodes(database, dimensions);
    return collectionOf(tenant, name)!;
  };
}

function saving(database: DatabaseSync) {
  const prepare = preparing(database);
  const recode = recoding(database, prepare);
  const find = database.prepare('select seq from vectors where collection = ? and id = ?');
  const insert = database.prepare('insert into vectors values (?, ?, ?, ?, ?, jsonb(?), ?)');
  const replace = database.prepare(
    'update vectors set embedding = ?, norm = ?, doc = jsonb(?), bytes = ? where seq = ?',
  );
  const advance = database.prepare('update vector_collections set next = ? where id = ?');
  return (to: VectorCollection, vectors: readonly NewVector[]) => {
    const { id: collection } = to;
    const code = to.metric === 'cosine' ? coding(prepare, to) : null;
    let row = to.next;
    for (const { id, embedding, metadata } of vectors) {
      const doc = metadata && sortedJson(metadata);
      const blob = new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
      const bytes = blob.byteLength + bytesOf(id) + bytesOf(doc ?? '');
      const there = find.get(collection, id);
      const seq = there ? Number(there.seq) : sequenceOf(collection, row++);
      if (there) replace.run(blob, norm(embedding), doc, bytes, seq);
      else insert.run(seq, collection, id, blob, norm(embedding), doc, bytes);
      code?.save(seq, embedding, there !== undefined);
    }
    advance.run(row, collection);
    if (code) recode(to, vectors.length);
  };
}

function removing(database: DatabaseSync) {
  const prepare = preparing(database);
  const recode = recoding(database, prepare);
  return (from: VectorCollection, { ids, filter, limits }: Deletion): number => {
    const { id } = from;
    const text = new QueryText(SQLITE);
    const [first, after] = rangeOf(id);
    const within =
      ids === null
        ? `seq >= ${text.bind(first)} and seq < ${text.bind(after)}`
        : `collection = ${text.bind(id)} and id in (select value from json_each(${text.bind(JSON.stringify(ids))}))`;
    const matched = `select seq from vectors where ${within} and ${text.condition(filter)} ${text.limit(limits.deletedMax)}`;
    const gone = prepare(`delete from vectors where seq in (${matched}) returning seq`).all(...text.params);
    const code = from.metric === 'cosine' ? coding(prepare, from) : null;
    for (const { seq } of gone) code?.remove(Number(seq));
    if (code) recode(from, gone.length);
    return gone.length;
  };
}
