/**
 * The nearest of 100,000 vectors in the embedded database, beside direct calls of sqlite-vec, and how many of the ten
 * nearest are found.
 */
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getLoadablePath } from 'sqlite-vec';
import { best, scoring } from '../packages/surfaces/src/capabilities/vector/metric.ts';
import { VECTOR_LIMITS } from '../packages/surfaces/src/capabilities/vector/surface.ts';
import type { VectorsPort } from '../packages/surfaces/src/ports/vectors.ts';
import { openDatabase } from '../packages/surfaces/src/sqlite/database.ts';
import { embeddedVectors } from '../packages/surfaces/src/sqlite/vectors.ts';
import { read, write } from '../packages/surfaces/src/testing/calls.ts';
import {
  clusteredVectors,
  randomVectors,
  seededRandom,
} from '../packages/surfaces/src/testing/random-vectors.ts';
import { spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const [DIMENSIONS, K, QUERIES, BATCH] = [384, 10, 30, 1_000];
const TENANT = 'bench';
const EVERYTHING = { kind: 'all', of: [] } as const;

type Direct = (query: Float32Array) => unknown;

const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.buffer);

interface OpenedDirect {
  readonly ask: Direct;
  insert(first: number, vectors: readonly Float32Array[]): void;
  close(): void;
}

export function openDirect(folder: string, vectors: readonly Float32Array[]): OpenedDirect {
  const database = new DatabaseSync(path.join(folder, 'direct.db'), { allowExtension: true });
  database.loadExtension(getLoadablePath());
  database.exec(`
    pragma page_size = 16384;
    pragma journal_mode = wal;
    pragma cache_size = -16384;
    create virtual table direct using vec0(embedding float[${DIMENSIONS}] distance_metric=cosine);
  `);
  const put = database.prepare('insert or replace into direct (rowid, embedding) values (?, ?)');
  const insert: OpenedDirect['insert'] = (first, vectors) => {
    database.exec('begin');
    for (const [index, vector] of vectors.entries()) put.run(BigInt(first + index), bytesOf(vector));
    database.exec('commit');
  };
  insert(0, vectors);
  const ask = database.prepare('select rowid, distance from direct where embedding match ? and k = ?');
  return { insert, ask: (query) => ask.all(bytesOf(query), K), close: () => database.close() };
}

export async function fill(
  port: VectorsPort,
  collection: string,
  vectors: readonly Float32Array[],
): Promise<void> {
  for (let first = 0; first < vectors.length; first += BATCH) {
    const batch = vectors.slice(first, first + BATCH);
    const given = batch.map((embedding, index) => ({ id: String(first + index), embedding, metadata: null }));
    await port.upsert({ collection, metric: null, vectors: given }, write(TENANT));
  }
}

const nearestOf = (vectors: readonly Float32Array[], query: Float32Array): Set<string> => {
  const scoreOf = scoring('cosine', query);
  const scored = vectors.map((vector, index) => ({ id: String(index), score: scoreOf(vector) }));
  return new Set(best(scored, K).map(({ id }) => id));
};

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Direct and own queries take turns, so that noise of the machine hits both. */
async function compare(
  port: VectorsPort,
  collection: string,
  { vectors, queries, direct }: { vectors: Float32Array[]; queries: Float32Array[]; direct: Direct },
): Promise<Row[]> {
  const [bare, own]: [number[], number[]] = [[], []];
  let found = 0;
  for (const embedding of queries) {
    bare.push(await timed(() => direct(embedding)));
    const ask = () => port.query({ collection, embedding, k: K, filter: EVERYTHING }, read(TENANT));
    own.push(await timed(ask));
    const nearest = nearestOf(vectors, embedding);
    found += (await ask()).filter(({ id }) => nearest.has(id)).length;
  }
  const p50 = (samples: readonly number[]): number => spreadOf(samples)?.p50 ?? Number.NaN;
  const facts = { vectors: vectors.length };
  return [
    { what: `${collection}: sqlite-vec`, ...facts, 'p50 ms': round(p50(bare)) },
    {
      what: `${collection}: vectorStore`,
      ...facts,
      'p50 ms': round(p50(own)),
      'of direct': round(p50(own) / p50(bare)),
      'recall@10': round(found / (K * queries.length)),
    },
  ];
}

export async function vectors(settings: Settings): Promise<Report> {
  const count = settings.rounds > 1 ? 100_000 : 5_000;
  const random = seededRandom(1);
  const folder = freshFolder(settings.dataDir);
  const embedded = openDatabase({ dataDir: folder });
  const port = embeddedVectors(embedded, VECTOR_LIMITS);
  const rows: Row[] = [];
  for (const [collection, make] of Object.entries({ random: randomVectors, clustered: clusteredVectors })) {
    const made = make(count + QUERIES, DIMENSIONS, random);
    const [kept, queries] = [made.slice(0, count), made.slice(count)];
    await fill(port, collection, kept);
    const direct = openDirect(freshFolder(settings.dataDir), kept);
    rows.push(...(await compare(port, collection, { vectors: kept, queries, direct: direct.ask })));
    direct.close();
  }
  await embedded.close();
  return { title: `The ${K} nearest vectors of ${DIMENSIONS} numbers`, rows };
}
