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
import type { EmbeddedDatabase } from './database.ts';
import { SQLITE } from './document-sql.ts';
import { defineArea, inSnapshot, rangeOf, type Sql } from './statements.ts';
import { codesTable, findVectorCollection, floatsOf, type VectorCollection } from './vector-codes.ts';
import { vectorWrites } from './vector-writes.ts';

/** Up to this many vectors, a full scan is as fast as a search by codes. */
const SCANNED_MAX = 1_000;

interface Found extends Scored {
  readonly seq: number;
}

type Search = Omit<VectorQuery, 'collection'>;

export const vectorsArea = defineArea({
  reads: (sql) => {
    sql.database.function('lengthened', { deterministic: true }, (embedding) =>
      bytesOfFloats(lengthened(floatsOf(embedding as Uint8Array))),
    );
    return {
      query: (tenant: string, name: string, search: Search): VectorMatch[] =>
        inSnapshot(sql, () => {
          const collection = findVectorCollection(sql, tenant, name);
          if (!collection) throw noCollection(name);
          if (collection.vectors === 0) return [];
          checkDimensions(collection.dimensions, search.embedding.length);
          return best(nearest(sql, collection, search), search.k).map(({ seq, id, score }) => ({
            id,
            score,
            metadata: metadataOf(sql, seq),
          }));
        }),
      ping: (): null => null,
    };
  },
  writes: vectorWrites,
});

const metadataOf = (sql: Sql, seq: number): JsonObject | null =>
  JSON.parse(
    sql.get<{ doc: string | null }>`select json(doc) as doc from vectors where seq = ${seq}`!.doc ?? 'null',
  );

function nearest(sql: Sql, collection: VectorCollection, search: Search): Found[] {
  const { embedding, k, filter } = search;
  const { metric, dimensions } = collection;
  const scoreOf = scoring(metric, embedding);
  const scored = ({ seq }: Candidate): Found => {
    const stored = sql.get<{ id: string; embedding: Uint8Array }>`
      select id, embedding from vectors where seq = ${seq}
    `!;
    return { seq, id: stored.id, score: scoreOf(floatsOf(stored.embedding)) };
  };
  const isAny = filter.kind === 'all' && filter.of.length === 0;
  if (metric === 'cosine' && isAny && collection.vectors > SCANNED_MAX) {
    const rows = lookAtCodes(sql, collection, embedding, candidatesFor(k));
    const found = rows.map(scored);
    const candidates = found.map(({ score }, index) => ({ score, distance: rows[index]!.distance }));
    if (isConclusive(candidates, { k, dimensions })) return found;
  }
  return scan(sql, collection, search).map(scored);
}

interface Candidate {
  readonly seq: number;
}

const bytesOfFloats = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/** The collection is the partition key: codes of other collections are not read. */
const lookAtCodes = (
  sql: Sql,
  { id, dimensions }: VectorCollection,
  embedding: Float32Array,
  limit: number,
): (Candidate & { readonly distance: number })[] =>
  sql.select(
    `
      select rowid as seq, distance from ${codesTable(dimensions)}
      where code match vec_int8(?) and k = ? and collection = ?
    `,
    [new Uint8Array(encode(embedding).buffer), limit, BigInt(id)],
  );

/** Compares directions, so both sides may be scaled up. */
const cosineDistance = (query: string): string =>
  `coalesce(vec_distance_cosine(iif(norm < ${SHORT}, lengthened(embedding), embedding), ${query}), 1)`;

/**
 * For cosine and dot, the length of the query does not change the order. For l2, vectors shorter than `SHORT`
 * are at distance 0.
 */
const DISTANCES = {
  cosine: cosineDistance,
  l2: (query: string) => `vec_distance_l2(embedding, ${query})`,
  dot: (query: string) => `norm * (${cosineDistance(query)} - 1)`,
} as const satisfies Record<Metric, (query: string) => string>;

function scan(sql: Sql, { id, metric }: VectorCollection, { embedding, k, filter }: Search): Candidate[] {
  const text = new QueryText(SQLITE);
  const [first, after] = rangeOf(id);
  const within = `seq >= ${text.bind(first)} and seq < ${text.bind(after)}`;
  const where = `${within} and ${text.condition(filter)}`;
  const asked = metric === 'l2' ? embedding : lengthened(embedding);
  const hex = Buffer.from(bytesOfFloats(asked)).toString('hex');
  // A subselect is computed once, not for each row
  const query = `(select unhex(${text.bind(hex)}))`;
  const limit = text.bind(k + SLACK);
  const found = `select seq from vectors where ${where} order by ${DISTANCES[metric](query)} limit ${limit}`;
  return sql.select(found, text.params);
}

export function embeddedVectors(database: EmbeddedDatabase, limits: VectorLimits): VectorsPort {
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
