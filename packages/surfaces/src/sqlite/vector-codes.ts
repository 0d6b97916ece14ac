/**
 * Codes of vectors, in chunks. Only the newest chunk is refilled, and every query reads the whole of a chunk
 * even if one code is left; measured: 1,500 such chunks where 13 would do take 33 ms instead of 1.
 *
 * I1  A vector with the cosine metric has one code, at every commit.
 * I2  A collection with three times the chunks it needs is rewritten, a part with each write; progress is stored.
 */
import { encode } from '../capabilities/vector/metric.ts';
import type { CollectionShape } from '../capabilities/vector/refusals.ts';
import { rangeOf, type Sql } from './statements.ts';

/** Small, since every collection has at least one; measured: scans are as fast as with 1,024. */
export const CODES_IN_CHUNK = 128;
const CHUNKS_BY_NEED_MAX = 3;
/** Fewer changes leave few holes. */
const CHANGES_MIN = 1_024;
/** In addition to the number of codes that the write itself changed. */
const RECODED_BY_WRITE = 512;

type Codes = Pick<VectorCollection, 'id' | 'dimensions'>;

const chunksTable = (dimensions: number): string => `${codesTable(dimensions)}_chunks`;

/** Without the index, the extension searches the chunks of all collections. Measured: of 5,000: 2.3 ms a code. */
export function makeCodes({ database }: Sql, dimensions: number): void {
  const chunks = chunksTable(dimensions);
  database.exec(`
    create virtual table if not exists ${codesTable(dimensions)} using vec0(
      collection integer partition key, code int8[${dimensions}] distance_metric=l2,
      chunk_size=${CODES_IN_CHUNK}
    );
    create index if not exists ${chunks}_by_collection on ${chunks} (partition00);
  `);
}

/** The extension accepts integers only as bigint, and cannot update a code in place. */
export function saveCode(sql: Sql, codes: Codes, seq: number, embedding: Float32Array): void {
  const code = new Uint8Array(encode(embedding).buffer);
  sql
    .prepare(
      `insert into ${codesTable(codes.dimensions)} (rowid, collection, code) values (?, ?, vec_int8(?))`,
    )
    .run(BigInt(seq), BigInt(codes.id), code);
}

export const removeCode = (sql: Sql, { dimensions }: Codes, seq: number): unknown =>
  sql.prepare(`delete from ${codesTable(dimensions)} where rowid = ?`).run(BigInt(seq));

interface Progress {
  readonly vectors: number;
  readonly codes_changed: number;
  readonly recoded_to: number | null;
}

/** See I2. Called after each write, with the number of codes that it changed. */
export function recode(sql: Sql, collection: Codes, changed: number): void {
  const { id } = collection;
  const { vectors, codes_changed, recoded_to } = sql.get<Progress>`
    select vectors, codes_changed, recoded_to from vector_collections where id = ${id}
  `!;
  const changes = codes_changed + changed;
  const save = (left: number, recodedTo: number | null): unknown =>
    sql.run`update vector_collections set codes_changed = ${left}, recoded_to = ${recodedTo} where id = ${id}`;
  const isDue = changes >= Math.max(vectors, CHANGES_MIN);
  if (recoded_to === null && !isDue) save(changes, null);
  else if (recoded_to === null && !hasManyHoles(sql, collection, vectors)) save(0, null);
  else save(0, writeAnew(sql, collection, recoded_to ?? rangeOf(id)[0], RECODED_BY_WRITE + changed));
}

function hasManyHoles(sql: Sql, { id, dimensions }: Codes, vectors: number): boolean {
  const count = `select count(*) as many from ${chunksTable(dimensions)} where partition00 = ?`;
  const [found] = sql.select<{ many: number }>(count, [id]);
  return found!.many > CHUNKS_BY_NEED_MAX * Math.ceil(vectors / CODES_IN_CHUNK);
}

/** A rewritten code goes into the newest chunk, and an empty chunk is deleted. Null when all codes are rewritten. */
function writeAnew(sql: Sql, collection: Codes, after: number, limit: number): number | null {
  const rows = sql.all<{ seq: number; embedding: Uint8Array }>`
    select seq, embedding from vectors where seq > ${after} and seq < ${rangeOf(collection.id)[1]}
    order by seq limit ${limit} + 0
  `;
  for (const { seq, embedding } of rows) {
    removeCode(sql, collection, seq);
    saveCode(sql, collection, seq, floatsOf(embedding));
  }
  return rows.length < limit ? null : rows.at(-1)!.seq;
}

export const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.slice().buffer);

export interface VectorCollection extends CollectionShape {
  readonly id: number;
  readonly vectors: number;
  readonly next: number;
}

export const findVectorCollection = (sql: Sql, tenant: string, name: string) => sql.get<VectorCollection>`
  select id, dimensions, metric, vectors, next from vector_collections where tenant = ${tenant} and name = ${name}
`;

export const codesTable = (dimensions: number): string => `vector_codes_${dimensions}`;
