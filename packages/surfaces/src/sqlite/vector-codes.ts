/**
 * Codes of vectors, in chunks. Holes are filled in the newest chunk only, and a chunk with one code left is read whole by
 * every query; measured: 1,500 such chunks where 13 would do take 33 ms instead of 1.
 *
 * I1  A vector whose metric is cosine has one code, at every commit.
 * I2  A collection with three times the chunks it needs is rewritten, a part with each write; progress is stored.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { encode, type Metric } from '../capabilities/vector/metric.ts';
import type { CollectionShape } from '../capabilities/vector/refusals.ts';
import { LIMIT, rangeOf } from './statements.ts';

/** Small, since every collection has at least one; measured: scans are as fast as with 1,024. */
export const CODES_IN_CHUNK = 128;
const CHUNKS_BY_NEED_MAX = 3;
/** Fewer changes leave few holes. */
const CHANGES_MIN = 1_024;
/** Beside as many as the write itself changed. */
const RECODED_BY_WRITE = 512;

type Prepare = (sql: string) => StatementSync;
type Codes = Pick<VectorCollection, 'id' | 'dimensions'>;

const chunksTable = (dimensions: number): string => `${codesTable(dimensions)}_chunks`;

/** Without the index, the extension looks for the chunks of a collection among those of all. Measured: of 5,000: 2.3 ms a code. */
export function makeCodes(database: DatabaseSync, dimensions: number): void {
  const chunks = chunksTable(dimensions);
  database.exec(`
    create virtual table if not exists ${codesTable(dimensions)} using vec0(
      collection integer partition key, code int8[${dimensions}] distance_metric=l2,
      chunk_size=${CODES_IN_CHUNK}
    );
    create index if not exists ${chunks}_by_collection on ${chunks} (partition00);
  `);
}

/** The extension takes whole numbers as bigint only, and changes no code in its place. */
export function coding(prepare: Prepare, { id, dimensions }: Codes) {
  const table = codesTable(dimensions);
  const insert = prepare(`insert into ${table} (rowid, collection, code) values (?, ?, vec_int8(?))`);
  const remove = prepare(`delete from ${table} where rowid = ?`);
  return {
    save(seq: number, embedding: Float32Array, isThere: boolean): void {
      if (isThere) remove.run(BigInt(seq));
      insert.run(BigInt(seq), BigInt(id), new Uint8Array(encode(embedding).buffer));
    },
    remove: (seq: number): void => void remove.run(BigInt(seq)),
  };
}

/** I2. To be called after each write, with how many codes it changed. */
export function recoding(database: DatabaseSync, prepare: Prepare) {
  const stateOf = database.prepare(
    'select vectors, codes_changed, recoded_to from vector_collections where id = ?',
  );
  const save = database.prepare(
    'update vector_collections set codes_changed = ?, recoded_to = ? where id = ?',
  );
  const recode = writingAnew(database, prepare);
  return (collection: Codes, changed: number): void => {
    const { id } = collection;
    const { vectors, codes_changed: before, recoded_to: recodedTo } = stateOf.get(id)!;
    const changes = Number(before) + changed;
    const isDue = changes >= Math.max(Number(vectors), CHANGES_MIN);
    if (recodedTo === null && !isDue) save.run(changes, null, id);
    else if (recodedTo === null && !hasManyHoles(prepare, collection, Number(vectors))) save.run(0, null, id);
    else save.run(0, recode(collection, Number(recodedTo ?? rangeOf(id)[0]), RECODED_BY_WRITE + changed), id);
  };
}

function hasManyHoles(prepare: Prepare, { id, dimensions }: Codes, vectors: number): boolean {
  const count = prepare(`select count(*) as many from ${chunksTable(dimensions)} where partition00 = ?`);
  return Number(count.get(id)?.many) > CHUNKS_BY_NEED_MAX * Math.ceil(vectors / CODES_IN_CHUNK);
}

/** A code that is written anew goes into the newest chunk, and a chunk without any is gone. Null when all are. */
function writingAnew(database: DatabaseSync, prepare: Prepare) {
  const next = database.prepare(
    `select seq, embedding from vectors where seq > ? and seq < ? order by seq ${LIMIT}`,
  );
  return (collection: Codes, after: number, limit: number): number | null => {
    const code = coding(prepare, collection);
    const rows = next.all(after, rangeOf(collection.id)[1], limit);
    for (const { seq, embedding } of rows)
      code.save(Number(seq), new Float32Array((embedding as Uint8Array).slice().buffer), true);
    return rows.length < limit ? null : Number(rows.at(-1)?.seq);
  };
}

export interface VectorCollection extends CollectionShape {
  readonly id: number;
  readonly vectors: number;
  readonly next: number;
}

export function findingVectorCollection(database: DatabaseSync) {
  const find = database.prepare(
    'select id, dimensions, metric, vectors, next from vector_collections where tenant = ? and name = ?',
  );
  return (tenant: string, name: string): VectorCollection | null => {
    const row = find.get(tenant, name);
    if (!row) return null;
    return {
      id: Number(row.id),
      dimensions: Number(row.dimensions),
      metric: row.metric as Metric,
      vectors: Number(row.vectors),
      next: Number(row.next),
    };
  };
}

export const codesTable = (dimensions: number): string => `vector_codes_${dimensions}`;
