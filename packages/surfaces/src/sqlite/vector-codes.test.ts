/** Chunks of codes: as many as are needed, or a few times that. They are counted in the file. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { getLoadablePath } from 'sqlite-vec';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { scoring } from '../capabilities/vector/metric.ts';
import { VECTOR_LIMITS } from '../capabilities/vector/surface.ts';
import type { NewVector } from '../ports/vectors.ts';
import { read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { randomVectors, seededRandom } from '../testing/random-vectors.ts';
import { openDatabase } from './database.ts';
import { databasePath } from './open-file.ts';
import { CODES_IN_CHUNK } from './vector-codes.ts';
import { embeddedVectors } from './vectors.ts';

const DIMENSIONS = 8;
/** More than are looked at one by one. */
const MANY = 1_200;
const EMBEDDINGS = randomVectors(MANY, DIMENSIONS, seededRandom(5));

const vectorOf = (id: string, n: number): NewVector => ({ id, embedding: EMBEDDINGS[n]!, metadata: null });

function folderOf(t: TestContext) {
  const folder = freshFolder();
  t.after(folder.remove);
  const inFile = <T>(look: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(databasePath(folder.path, 'retrieval.db'), { allowExtension: true });
    try {
      return look(database);
    } finally {
      database.close();
    }
  };
  const countOf = (sql: string): number =>
    inFile((database) => Number(database.prepare(`select count(*) as many from ${sql}`).get()?.many));
  return {
    inFile,
    chunks: () => countOf(`vector_codes_${DIMENSIONS}_chunks`),
    /** I1. */
    uncoded: () =>
      countOf(`vectors where seq not in (select rowid from vector_codes_${DIMENSIONS}_rowids)`) +
      countOf(`vector_codes_${DIMENSIONS}_rowids where rowid not in (select seq from vectors)`),
    open() {
      const database = openDatabase({ dataDir: folder.path });
      t.after(() => database.close());
      const port = embeddedVectors(database, VECTOR_LIMITS);
      return {
        close: () => database.close(),
        upsert: (vectors: readonly NewVector[]) =>
          port.upsert({ collection: 'c', metric: null, vectors }, write('acme')),
        remove: (ids: readonly string[]) =>
          port.delete({ collection: 'c', ids, filter: EVERYTHING }, write('acme')),
        nearest: async (n: number) =>
          (
            await port.query(
              { collection: 'c', embedding: EMBEDDINGS[n]!, k: 10, filter: EVERYTHING },
              read('acme'),
            )
          ).map(({ id }) => id),
      };
    },
  };
}

type Opened = ReturnType<ReturnType<typeof folderOf>['open']>;

const COLD = 120;
const HOT = Array.from({ length: CODES_IN_CHUNK - 1 }, (_, n) => vectorOf(`hot${n}`, n));

/** Each chunk keeps one vector that stays; the others leave it for the next. */
async function fillWithHoles({ upsert }: Opened, many: number): Promise<void> {
  const rounds = Array.from({ length: many }, (_, n) => [vectorOf(`cold${n}`, n), ...HOT]);
  for (let n = 0; n < many; n += 7) await upsert(rounds.slice(n, n + 7).flat());
}

const needed = (vectors: number): number => Math.ceil(vectors / CODES_IN_CHUNK);

/** By looking at all of them. */
function exactly(n: number, ids: readonly string[]): string[] {
  const scoreOf = scoring('cosine', EMBEDDINGS[n]!);
  const scored = ids.map((id) => ({ id, score: scoreOf(EMBEDDINGS[Number(id.replace(/\D/g, ''))]!) }));
  return scored
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, 10)
    .map(({ id }) => id);
}

test('vectors that stay among updates of others need no chunk each, and are found as before', async (t) => {
  const { open, chunks, uncoded } = folderOf(t);
  const port = open();
  const all = EMBEDDINGS.map((_, n) => vectorOf(`v${n}`, n));
  await port.upsert(all);
  await fillWithHoles(port, COLD);
  const ids = [...all, ...HOT].map(({ id }) => id);
  ids.push(...Array.from({ length: COLD }, (_, n) => `cold${n}`));
  assert.ok(chunks() <= 4 * needed(ids.length), `${chunks()} chunks`);
  assert.equal(uncoded(), 0);
  for (const n of [3, 500, 1_100]) assert.deepEqual(await port.nearest(n), exactly(n, ids));
});

test('one delete that leaves few is enough', async (t) => {
  const { open, chunks, uncoded } = folderOf(t);
  const { upsert, remove } = open();
  await upsert(EMBEDDINGS.map((_, n) => vectorOf(`v${n}`, n)));
  assert.equal(chunks(), needed(MANY));
  const others = EMBEDDINGS.flatMap((_, n) => (n % CODES_IN_CHUNK === 0 ? [] : [`v${n}`]));
  await remove(others);
  assert.ok(chunks() <= 2, `${chunks()} chunks`);
  assert.equal(uncoded(), 0);
});

const SPREAD = 100;

/** So many codes have a chunk of their own. */
function spread(database: DatabaseSync, many: number): void {
  database.loadExtension(getLoadablePath());
  const table = `vector_codes_${DIMENSIONS}`;
  const take = database.prepare(`select rowid as seq, collection, code from ${table} where rowid = ?`);
  const remove = database.prepare(`delete from ${table} where rowid = ?`);
  const insert = database.prepare(
    `insert into ${table} (rowid, collection, code) values (?, ?, vec_int8(?))`,
  );
  const sequences = database.prepare('select seq from vectors order by seq limit ?').all(many);
  database.exec('begin');
  let filler = 0n;
  for (const { seq } of sequences) {
    const { collection, code } = take.get(BigInt(Number(seq)))!;
    const put = (at: bigint) => insert.run(at, BigInt(Number(collection)), code as Uint8Array);
    remove.run(BigInt(Number(seq)));
    put(BigInt(Number(seq)));
    for (let n = 1; n < CODES_IN_CHUNK; n++) put(++filler);
  }
  for (; filler > 0n; filler--) remove.run(filler);
  database.exec('commit');
}

test('it goes on after a restart in the middle', async (t) => {
  const { open, chunks, uncoded, inFile } = folderOf(t);
  const before = open();
  await before.upsert(EMBEDDINGS.map((_, n) => vectorOf(`v${n}`, n)));
  await before.close();
  inFile((database) => database.exec('update vector_collections set codes_changed = 1000000'));
  inFile((database) => spread(database, SPREAD));
  assert.ok(chunks() >= SPREAD, `${chunks()} chunks`);
  const state = () =>
    inFile((database) => database.prepare('select recoded_to from vector_collections').get()?.recoded_to);
  for (const isUnderWay of [true, true, false]) {
    const { upsert, close } = open();
    await upsert([vectorOf('v0', 0)]);
    await close();
    assert.deepEqual([state() !== null, uncoded()], [isUnderWay, 0]);
  }
  assert.ok(chunks() <= needed(MANY) + 2, `${chunks()} chunks`);
  const ids = EMBEDDINGS.map((_, n) => `v${n}`);
  assert.deepEqual(await open().nearest(7), exactly(7, ids));
});

test('chunks of a collection are found among those of others by an index', async (t) => {
  const { open, inFile } = folderOf(t);
  const { upsert, close } = open();
  await upsert([vectorOf('a', 0)]);
  await close();
  const index = `vector_codes_${DIMENSIONS}_chunks_by_collection`;
  const plan = inFile((database) =>
    database
      .prepare(
        `explain query plan select max(rowid) from vector_codes_${DIMENSIONS}_chunks where partition00 = 1`,
      )
      .all(),
  );
  assert.match(JSON.stringify(plan), new RegExp(index));
});
