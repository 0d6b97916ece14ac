/** What nodes do while something dies, numbered, and how to tell afterwards which of it happened. */
import assert from 'node:assert/strict';
import type { Data } from '../calls/data.ts';
import type { CrashNode } from './crash-call-gate.ts';
import { consume, publish } from './crash-queue-works.ts';

/** By number. */
export interface Told {
  /** With the answer that pack code saw. */
  readonly acked: ReadonlyMap<number, Data>;
  /** Nobody knows, and the node was told so. */
  readonly doubted: ReadonlySet<number>;
}

export type Found =
  /** Each as often as it is there. Of `unsure` a message may be missing. */
  | { readonly kind: 'each'; readonly numbers: readonly number[]; readonly unsure?: ReadonlySet<number> }
  | { readonly kind: 'total'; readonly count: number };

export interface Work {
  /** Before the process starts that works. */
  prepare?(node: CrashNode): Promise<void>;
  act(node: CrashNode, n: number): Promise<Data | undefined>;
  find(node: CrashNode, told: Told): Promise<Found>;
}

type Rows = readonly { readonly n: number }[];

/** `Data` says no more than that it can be sent. */
const as = <T>(value: Data | undefined): T => value as T;
const each = (numbers: readonly number[]): Found => ({ kind: 'each', numbers });
const idsOf = ({ acked, doubted }: Told): string[] => [...acked.keys(), ...doubted].map(String);

const increment: Work = {
  act: ({ call }) => call('storage.kv.atomicIncrement', { key: 'n' }),
  async find({ call }) {
    const { value = 0 } = as<{ value?: number }>(await call('storage.kv.get', { key: 'n' }));
    return { kind: 'total', count: value };
  },
};

/** Done twice, it would answer that it did nothing. */
const swap: Work = {
  async act({ call }, n) {
    const swapped = await call('storage.kv.compareAndSwap', { key: `swap/${n}`, newValue: n });
    assert.equal(as<{ swapped: boolean }>(swapped).swapped, true, `swap ${n} was done before`);
    return swapped;
  },
  async find({ call }) {
    const page = as<{ keys: readonly string[] }>(
      await call('storage.kv.list', { prefix: 'swap/', limit: 1_000 }),
    );
    return each(page.keys.map((key) => Number(key.slice('swap/'.length))));
  },
};

const cache: Work = {
  act: ({ call }, n) => call('storage.cache.put', { key: String(n), value: n, ttlSeconds: 600 }),
  async find({ call }, told) {
    const found = idsOf(told).map(async (key) =>
      as<{ value?: number }>(await call('storage.cache.get', { key })),
    );
    return each((await Promise.all(found)).flatMap(({ value }) => value ?? []));
  },
};

const table: Work = {
  act: ({ call }, n) => call('storage.table.insert', { table: 'crash', row: { n } }),
  async find({ call }) {
    const { rows } = as<{ rows: Rows }>(await call('storage.table.query', { table: 'crash', limit: 1_000 }));
    return each(rows.map(({ n }) => n));
  },
};

const CRASH = { datasourceId: 'primary', collection: 'crash' };

const documents: Work = {
  act: ({ call }, n) => call('db.nosql.insertMany', { ...CRASH, docs: [{ n }, { n: n + 0.5 }] }),
  async find({ call }) {
    const page = await call('db.nosql.query', { ...CRASH, filter: {}, limit: 1_000 });
    const numbers = as<{ docs: Rows }>(page).docs.map(({ n }) => n);
    const [whole, half] = [numbers.filter(Number.isInteger), numbers.filter((n) => !Number.isInteger(n))];
    assert.equal(whole.length, half.length, 'a write of two documents is whole or not at all');
    return each(whole);
  },
};

/** What is there is counted by taking it away. */
const vectors: Work = {
  act: ({ call }, n) =>
    call('db.vector.upsert', { collection: 'crash', vectors: [{ id: String(n), embedding: [1, n] }] }),
  async find({ call }, told) {
    const { deleted } = as<{ deleted: number }>(
      await call('db.vector.delete', { collection: 'crash', ids: idsOf(told) }),
    );
    return { kind: 'total', count: deleted };
  },
};

const search: Work = {
  act: ({ call }, n) =>
    call('db.search.index', { index: 'crash', docs: [{ id: String(n), fields: { text: `word ${n}` } }] }),
  async find({ call }, told) {
    const { deleted } = as<{ deleted: number }>(
      await call('db.search.delete', { index: 'crash', ids: idsOf(told) }),
    );
    return { kind: 'total', count: deleted };
  },
};

const BUCKET = 'artifacts';

const blobs: Work = {
  async act({ call }, n) {
    const [bytes, gone] = [new TextEncoder().encode(String(n)), `${n + 0.5}`];
    await call('storage.blob.put', { bucket: BUCKET, key: String(n), bytes });
    await call('storage.blob.put', { bucket: BUCKET, key: gone, bytes });
    return call('storage.blob.delete', { bucket: BUCKET, key: gone });
  },
  async find({ call }) {
    const page = await call('storage.blob.list', { bucket: BUCKET, limit: 1_000 });
    const keys = as<{ entries: readonly { key: string }[] }>(page).entries.map(({ key }) => key);
    const objects = keys.map(async (key) => {
      const { bytes } = as<{ bytes: Uint8Array }>(await call('storage.blob.get', { bucket: BUCKET, key }));
      assert.equal(new TextDecoder().decode(bytes), key, 'an object is whole');
      return Number(key);
    });
    return each(await Promise.all(objects));
  },
};

const PATH = 'log/lines.txt';

/** Appending is what cannot be done twice. */
const files: Work = {
  act: ({ call }, n) =>
    call('fs.write', { path: PATH, bytes: new TextEncoder().encode(`${n}\n`), mode: 'append' }),
  async find({ call }) {
    const { bytes } = as<{ bytes: Uint8Array }>(await call('fs.read', { path: PATH }));
    return each(new TextDecoder().decode(bytes).trim().split('\n').map(Number));
  },
};

const sql: Work = {
  async prepare({ call }) {
    await call('db.sql.execute', { sql: 'create table crash_log (n integer)' });
    await call('db.sql.execute', { sql: 'create table crash_total (n integer)' });
    await call('db.sql.execute', { sql: 'insert into crash_total values (?)', params: [0] });
  },
  act: ({ call }, n) =>
    call('db.sql.transaction', {
      operations: [
        { sql: 'insert into crash_log values (?)', params: [n] },
        { sql: 'update crash_total set n = n + ?', params: [1] },
      ],
    }),
  async find({ call }) {
    const read = async (query: string) => as<{ rows: Rows }>(await call('db.sql.query', { sql: query })).rows;
    const [log, [total]] = [await read('select n from crash_log'), await read('select n from crash_total')];
    assert.equal(total?.n, log.length, 'a transaction is whole or not at all');
    // The tables of a server belong to no tenant
    for (const name of ['crash_log', 'crash_total'])
      await call('db.sql.execute', { sql: `drop table ${name}` });
    return each(log.map(({ n }) => n));
  },
};

const works = {
  increment,
  swap,
  cache,
  table,
  documents,
  vectors,
  search,
  blobs,
  files,
  sql,
  publish,
  consume,
};

export type WorkName = keyof typeof works;
export const WORKS: Readonly<Record<WorkName, Work>> = works;
