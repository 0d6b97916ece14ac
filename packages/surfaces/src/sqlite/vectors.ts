import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JsonObject } from '@gantry/protocol';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import {
  best,
  candidatesFor,
  encode,
  isConclusive,
  lengthened,
  type Metric,
  type Scored,
  SHORT,
  SLACK,
  scoring,
} from '../capabilities/vector/metric.ts';
import { checkDimensions, noCollection } from '../capabilities/vector/refusals.ts';
import type { VectorLimits, VectorMatch, VectorQuery, VectorsPort } from '../ports/vectors.ts';
import type { RetrievalDatabase } from './database.ts';
import { SQLITE } from './document-sql.ts';
import { defineArea, inSnapshot, preparing, rangeOf } from './statements.ts';
import { codesTable, findingVectorCollection, type VectorCollection } from './vector-codes.ts';
import { vectorWrites } from './vector-writes.ts';

/** Up to so many, reading every vector is as fast as looking at codes first. */
const SCANNED_MAX = 1_000;

interface Found extends Scored {
  readonly seq: number;
}

type Search = Omit<VectorQuery, 'collection'>;

export const vectorsArea = defineArea({
  reads: (database) => {
    const collectionOf = findingVectorCollection(database);
    const nearest = searching(database);
    const bySeq = database.prepare('select json(doc) as doc from vectors where seq = ?');
    const metadataOf = (seq: number): JsonObject | null => JSON.parse(String(bySeq.get(seq)?.doc ?? null));
    return {
      query: (tenant: string, name: string, search: Search): VectorMatch[] =>
        inSnapshot(database, () => {
          const collection = collectionOf(tenant, name);
          if (!collection) throw noCollection(name);
          if (collection.vectors === 0) return [];
          checkDimensions(collection.dimensions, search.embedding.length);
          return best(nearest(collection, search), search.k).map(({ seq, id, score }) => ({
            id,
            score,
            metadata: metadataOf(seq),
          }));
        }),
      ping: (): null => null,
    };
  },
  writes: vectorWrites,
});

function searching(database: DatabaseSync) {
  const prepare = preparing(database);
  database.function('lengthened', { deterministic: true }, (embedding) =>
    bytesOfFloats(lengthened(floatsOf(embedding as Uint8Array))),
  );
  const vectorAt = database.prepare('select id, embedding from vectors where seq = ?');
  const scored = (rows: readonly Row[], metric: Metric, embedding: Float32Array): Found[] => {
    const scoreOf = scoring(metric, embedding);
    return rows.map((row) => {
      const seq = Number(row.seq);
      const stored = vectorAt.get(seq)!;
      return { seq, id: String(stored.id), score: scoreOf(floatsOf(stored.embedding as Uint8Array)) };
    });
  };
  return (collection: VectorCollection, { embedding, k, filter }: Search): Found[] => {
    const { metric, dimensions } = collection;
    const isAny = filter.kind === 'all' && filter.of.length === 0;
    if (metric === 'cosine' && isAny && collection.vectors > SCANNED_MAX) {
      const rows = lookAtCodes(prepare, collection, embedding, candidatesFor(k));
      const found = scored(rows, metric, embedding);
      const candidates = found.map(({ score }, index) => ({
        score,
        distance: Number(rows[index]!.distance),
      }));
      if (isConclusive(candidates, { k, dimensions })) return found;
    }
    return scored(scan(prepare, collection, { embedding, k, filter }), metric, embedding);
  };
}

type Row = ReturnType<StatementSync['all']>[number];
type Prepare = (sql: string) => StatementSync;

const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.slice().buffer);

const bytesOfFloats = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/** The collection is the partition of the table: codes of others are not even read. */
function lookAtCodes(
  prepare: Prepare,
  { id, dimensions }: VectorCollection,
  embedding: Float32Array,
  limit: number,
): Row[] {
  const look = prepare(`
    select rowid as seq, distance from ${codesTable(dimensions)}
    where code match vec_int8(?) and k = ? and collection = ?
  `);
  return look.all(new Uint8Array(encode(embedding).buffer), limit, BigInt(id));
}

/** Of directions, so both sides may be lengthened. */
const cosineDistance = (query: string): string =>
  `coalesce(vec_distance_cosine(iif(norm < ${SHORT}, lengthened(embedding), embedding), ${query}), 1)`;

/** By cosine and dot, the length of the query changes no order; by l2, what is shorter than `SHORT` is at no distance. */
const DISTANCES = {
  cosine: cosineDistance,
  l2: (query: string) => `vec_distance_l2(embedding, ${query})`,
  dot: (query: string) => `norm * (${cosineDistance(query)} - 1)`,
} as const satisfies Record<Metric, (query: string) => string>;

function scan(prepare: Prepare, { id, metric }: VectorCollection, { embedding, k, filter }: Search): Row[] {
  const text = new QueryText(SQLITE);
  const [first, after] = rangeOf(id);
  const within = `seq >= ${text.bind(first)} and seq < ${text.bind(after)}`;
  const where = `${within} and ${text.condition(filter)}`;
  const asked = metric === 'l2' ? embedding : lengthened(embedding);
  const hex = Buffer.from(bytesOfFloats(asked)).toString('hex');
  // In a select of its own it is computed once, not for each row
  const query = `(select unhex(${text.bind(hex)}))`;
  const limit = text.bind(k + SLACK);
  return prepare(
    `select seq from vectors where ${where} order by ${DISTANCES[metric](query)} limit ${limit}`,
  ).all(...text.params);
}

export function embeddedVectors(database: RetrievalDatabase, limits: VectorLimits): VectorsPort {
  return {
    upsert: ({ collection, metric, vectors }, call) =>
      database.write('vectors', 'upsert', call, call.tenant, collection, { metric, vectors, limits }),
    query: ({ collection, ...search }, { tenant }) =>
      database.read('vectors', 'query', tenant, collection, search),
    delete: ({ collection, ids, filter }, call) =>
      database.write('vectors', 'delete', call, call.tenant, collection, { ids, filter, limits }),
    health: async () => void (await database.read('vectors', 'ping')),
  };
}
