/** Callers that change records for a while. By itself: `node bench/changes-load.ts JSON`, for processes that share a database. */

import { randomBytes, randomUUID } from 'node:crypto';
import { systemCaller } from '@gantry/resources';
import { type Caller, Changes, type RecordKind } from '../packages/resources/src/index.ts';
import { CommitPipeline, openPostgres, type Store } from '../packages/store/src/index.ts';
import { spreadOf } from './load/percentile.ts';

export interface Doc {
  readonly count: number;
  readonly text: string;
}

export const docs: RecordKind<Doc> = { kind: 'doc', idPrefix: 'doc' };
export const TENANT = 'bench';
export const TEXT = 'x'.repeat(200);

export const system: Caller = systemCaller('bench', { tenant: TENANT });

export interface World {
  readonly store: Store;
  readonly pipeline: CommitPipeline;
  readonly changes: Changes;
}

export function worldOf(store: Store): World {
  const pipeline = new CommitPipeline(store);
  return { store, pipeline, changes: new Changes({ store, pipeline, now: Date.now, randomBytes }) };
}

export const createDocs = ({ changes }: World, count: number): Promise<string[]> =>
  changes.run(system, async (change) =>
    Array.from({ length: count }, () => change.create(docs, { count: 0, text: TEXT }).id),
  );

export const increment = ({ changes }: World, id: string): Promise<void> =>
  changes.run(system, async (change) => {
    const doc = await change.get(docs, id);
    change.update(doc, { count: doc.record.count + 1 });
  });

/** The record of a request that nobody repeats. */
export const newRequest = () => {
  const key = randomUUID();
  return { tenant: TENANT, operation: 'bench', key, digest: key, expiresAt: Date.now() + 3_600_000 };
};

export interface Slice {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** So many callers, each one call after the other. */
export async function slice(
  callers: number,
  ms: number,
  call: (caller: number) => Promise<unknown>,
): Promise<Slice> {
  const samples: number[] = [];
  const begin = performance.now();
  const lane = async (caller: number): Promise<void> => {
    for (let at = performance.now(); at < begin + ms; ) {
      await call(caller);
      const now = performance.now();
      samples.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => lane(caller)));
  const perSecond = (samples.length * 1_000) / (performance.now() - begin);
  return { perSecond, p99Ms: spreadOf(samples)?.p99 ?? Number.NaN };
}

export interface HotRequest {
  readonly url: string;
  readonly id: string;
  readonly callers: number;
  readonly slices: number;
  readonly sliceMs: number;
}

async function hot({ url, id, callers, slices, sliceMs }: HotRequest): Promise<Slice[]> {
  const store = await openPostgres({ url });
  const world = worldOf(store);
  const measured: Slice[] = [];
  for (let i = 0; i < slices; i++) measured.push(await slice(callers, sliceMs, () => increment(world, id)));
  await store.close();
  return measured;
}

if (import.meta.main) process.stdout.write(JSON.stringify(await hot(JSON.parse(process.argv[2] ?? ''))));
