/**
 * What a durable change costs: beside bare group commits of the same bytes, on one record that all callers want, beside
 * a writer of large documents, and as the table of entries grows. Slices alternate and the median counts.
 */

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { personCaller } from '@gantry/resources';
import { openPostgres, openSqlite, type Store, type Write } from '../packages/store/src/index.ts';
import { freshDatabase } from '../packages/store/src/testing/postgres-server.ts';
import {
  createDocs,
  docs,
  type HotRequest,
  increment,
  newRequest,
  type Slice,
  slice,
  system,
  TENANT,
  TEXT,
  type World,
  worldOf,
} from './changes-load.ts';
import { runJson } from './children.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const CALLERS = 50;
const SMALL_CALLERS = 10;
const SLICES = 9;
const LARGE_BYTES = 1024 * 1024;
const LARGE_TEXTS = 16;
const LOAD = path.join(import.meta.dirname, 'changes-load.ts');

interface Plan {
  readonly slices: number;
  readonly sliceMs: number;
  readonly entries: number;
  readonly folder: string;
}

export async function changes(settings: Settings): Promise<Report> {
  const { callMs: sliceMs, retrievalItems: entries, dataDir, rounds } = settings;
  const plan: Plan = { slices: rounds > 1 ? SLICES : 1, sliceMs, entries, folder: freshFolder(dataDir) };
  const rows: Row[] = await withStore(
    () => openSqlite({ dataDir: plan.folder }),
    async (world) => [
      await besideBare(plan, world),
      goal('50 callers on one record, SQLite', await oneRecord(plan, world), 20),
      ...(await besideLarge(plan, world, 'SQLite')),
    ],
  );
  return { title: 'Durable changes', rows: [...rows, ...(await onPostgres(plan))] };
}

async function withStore<T>(open: () => Promise<Store>, use: (world: World) => Promise<T>): Promise<T> {
  const store = await open();
  try {
    return await use(worldOf(store));
  } finally {
    await store.close();
  }
}

/** Two reads, two writes and a record, beside the same writes without anything around them. */
async function besideBare({ slices, sliceMs }: Plan, world: World): Promise<Row> {
  const mine = await createDocs(world, CALLERS * 2);
  const bare = (await createDocs(world, CALLERS * 2)).map((id) => ({ id, version: 1 }));
  const change = (caller: number) => {
    const request = newRequest();
    return world.changes.run(
      personCaller({ tenant: TENANT, principal: 'bench' }, request),
      async (change) => {
        const ids = [mine[caller * 2]!, mine[caller * 2 + 1]!];
        const [first, second] = await Promise.all(ids.map((id) => change.get(docs, id)));
        change.update(first!, { count: first!.record.count + 1 });
        change.update(second!, { count: second!.record.count - 1 });
        return null;
      },
    );
  };
  const commit = (caller: number) => {
    const record = { ...newRequest(), status: 200, body: 'null' };
    const puts = bare.slice(caller * 2, caller * 2 + 2).map((doc): Write => {
      const times = { ref: null, dueAt: null, expiresAt: null, createdAt: Date.now() };
      const body = JSON.stringify({ count: doc.version, text: TEXT });
      const entry = { kind: docs.kind, tenant: TENANT, id: doc.id, ...times, body };
      return { kind: 'putEntry', entry, expectedVersion: doc.version++ };
    });
    return world.pipeline.commit([{ kind: 'idempotency', record, now: Date.now() }, ...puts]);
  };
  const [measured, limit] = await alternating(slices, [
    () => slice(CALLERS, sliceMs, change),
    () => slice(CALLERS, sliceMs, commit),
  ]);
  const ofBare = medianOf(measured!.map(({ perSecond }, i) => perSecond / limit![i]!.perSecond));
  return {
    what: '2 reads, 2 writes, 1 record, SQLite',
    'per s': round(medianOf(measured!.map(({ perSecond }) => perSecond))),
    'p99 ms': round(medianOf(measured!.map(({ p99Ms }) => p99Ms))),
    'of bare': round(ofBare),
    goal: '0.6 of bare',
    held: ofBare >= 0.6 ? 'yes' : 'no',
  };
}

type Measure = () => Promise<Slice>;

async function alternating(slices: number, measures: readonly Measure[]): Promise<Slice[][]> {
  for (const measure of measures) await measure();
  const measured: Slice[][] = measures.map(() => []);
  for (let i = 0; i < slices; i++)
    for (const [n, measure] of measures.entries()) measured[n]!.push(await measure());
  return measured;
}

const goal = (what: string, slices: readonly Slice[], p99MsMax: number): Row => {
  const p99Ms = medianOf(slices.map((each) => each.p99Ms));
  return {
    what,
    'per s': round(medianOf(slices.map(({ perSecond }) => perSecond))),
    'p99 ms': round(p99Ms),
    'of bare': null,
    goal: `p99 ${p99MsMax} ms`,
    held: p99Ms <= p99MsMax ? 'yes' : 'no',
  };
};

/** A conflict or a lost update fails the part. */
async function oneRecord({ slices, sliceMs }: Plan, world: World): Promise<Slice[]> {
  const [id = ''] = await createDocs(world, 1);
  const [measured] = await alternating(slices, [() => slice(CALLERS, sliceMs, () => increment(world, id))]);
  return measured!;
}

async function twoProcesses({ slices, sliceMs }: Plan, world: World, url: string): Promise<Slice[]> {
  const [id = ''] = await createDocs(world, 1);
  const request: HotRequest = { url, id, callers: CALLERS / 2, slices: slices + 1, sliceMs };
  const timeoutMs = 60_000 + (slices + 1) * sliceMs * 2;
  const both = await Promise.all([1, 2].map(() => runJson<Slice[]>(LOAD, request, timeoutMs)));
  const [first = [], second = []] = both.map((each) => each.slice(1));
  return first.map((slice, i) => ({
    perSecond: slice.perSecond + second[i]!.perSecond,
    p99Ms: Math.max(slice.p99Ms, second[i]!.p99Ms),
  }));
}

async function besideLarge({ slices, sliceMs }: Plan, world: World, name: string): Promise<Row[]> {
  const small = await createDocs(world, SMALL_CALLERS);
  const [large = ''] = await createDocs(world, 1);
  const alone: Measure = () => slice(SMALL_CALLERS, sliceMs, (caller) => increment(world, small[caller]!));
  // Made before: it takes milliseconds of the thread in which all callers wait
  const texts = Array.from({ length: LARGE_TEXTS }, () => randomBytes(LARGE_BYTES / 2).toString('hex'));
  const beside: Measure = async () => {
    let isOver = false;
    const writer = (async () => {
      for (let turn = 0; !isOver; turn++) {
        const text = texts[turn % texts.length]!;
        await world.changes.run(system, async (change) =>
          change.update(await change.get(docs, large), { text }),
        );
      }
    })();
    const measured = await alone();
    isOver = true;
    await writer;
    return measured;
  };
  const [without, withWriter] = await alternating(slices, [alone, beside]);
  return [
    { ...goal(`10 small callers, ${name}`, without!, 10), goal: null, held: null },
    goal(`10 small callers beside 1 MiB, ${name}`, withWriter!, 10),
  ];
}

async function onPostgres(plan: Plan): Promise<Row[]> {
  const database = await freshDatabase();
  if ('skip' in database) return [{ what: `PostgreSQL: ${database.skip}` }];
  try {
    const { url } = database;
    return await withStore(
      () => openPostgres({ url }),
      async (world) => [
        goal('50 callers on one record, PostgreSQL', await oneRecord(plan, world), 50),
        goal('25 + 25 in two processes, PostgreSQL', await twoProcesses(plan, world, url), 200),
        ...(await besideLarge(plan, world, 'PostgreSQL')),
        await creates(plan, world),
      ],
    );
  } finally {
    await database.drop();
  }
}

/** Creates in a table of many entries, beside those in one that was empty. */
async function creates({ slices, sliceMs, entries }: Plan, filled: World): Promise<Row> {
  const create = (world: World): Promise<Slice> =>
    slice(CALLERS, sliceMs, () =>
      world.changes.run(system, async (change) => void change.create(docs, { count: 0, text: TEXT })),
    );
  for (let count = 0; count < entries; count += 500) await createDocs(filled, 500);
  const inEmpty: Measure = async () => {
    const database = await freshDatabase();
    if ('skip' in database) throw new Error(database.skip);
    try {
      return await withStore(() => openPostgres({ url: database.url }), create);
    } finally {
      await database.drop();
    }
  };
  const [many, few] = await alternating(slices, [() => create(filled), inEmpty]);
  const share = medianOf(many!.map(({ perSecond }, i) => perSecond / few![i]!.perSecond));
  return {
    what: `creates at ${entries.toLocaleString('en-US')} entries, PostgreSQL`,
    'per s': round(medianOf(many!.map(({ perSecond }) => perSecond))),
    'p99 ms': round(medianOf(many!.map(({ p99Ms }) => p99Ms))),
    'of empty': round(share),
    goal: '0.8 of empty',
    held: share >= 0.8 ? 'yes' : 'no',
  };
}
