/**
 * A host in a process of its own that is killed in every round while it works on a run, and started again: the frame of
 * tests that say what must hold then. `npm run soak` does more rounds.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { caller, hostPlaces, until } from '../packs/testing/host-lives.ts';
import { type HostProcess, startHostProcess } from './host-process.ts';

export const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 1);
/** To repeat a round that failed, or to go on after one. */
const FIRST = Number(process.env.GANTRY_SOAK_FIRST ?? 0);

export interface Database {
  /** Settings of the host. */
  readonly env: Readonly<Record<string, string>>;
  open(dataDir: string): Promise<Store>;
}

export const DATABASES: Readonly<Record<string, (t: TestContext) => Promise<Database | string>>> = {
  sqlite: async () => ({ env: {}, open: (dataDir) => openSqlite({ dataDir }) }),
  async postgres(t) {
    const database = await freshDatabase();
    if ('skip' in database) return database.skip;
    t.after(database.drop);
    return { env: { GANTRY_DATABASE_URL: database.url }, open: () => openPostgres({ url: database.url }) };
  },
};

export type Calls = ReturnType<typeof caller>;
export type Places = Awaited<ReturnType<typeof hostPlaces>>;

export interface Killing {
  /** Before the first start: answers settings of the host. */
  settings(places: Places): Promise<Readonly<Record<string, string>>>;
  install(calls: Calls): Promise<void>;
  /** Starts the run of a round. The host is killed when `struck` resolves, so it is prepared before the run is started. */
  start(round: number, calls: Calls): Promise<{ readonly runId: string; readonly struck: Promise<unknown> }>;
  /** What must hold of its log once it has ended, whatever became of it. */
  sound(round: number, runId: string, events: readonly RunEventDoc[]): void;
  /** After all rounds, while the host serves. */
  after?(calls: Calls): Promise<void>;
  /** And in its database, once it has stopped. */
  kept(store: Store): Promise<void>;
}

export async function killInRounds(t: TestContext, database: Database, killing: Killing): Promise<void> {
  const places = await hostPlaces(t, { GANTRY_PACK_TIMEOUT_SECONDS: '250', ...database.env });
  const env = { ...places.env, ...(await killing.settings(places)) };
  const begin = () => startHostProcess({ ...places, env });
  let host: HostProcess = await begin();
  t.after(() => host.kill());
  await killing.install(caller(host.url));
  for (let round = FIRST; round < FIRST + ROUNDS; round++) {
    const { runId, struck } = await killing.start(round, caller(host.url));
    await Promise.race([
      struck,
      once(host.child, 'exit').then(() => assert.fail('the host ended by itself')),
    ]);
    await host.kill();
    host = await begin();
    const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
    killing.sound(round, runId, events);
  }
  await killing.after?.(caller(host.url));
  await host.stop();
  const store = await database.open(places.dataDir);
  t.after(() => store.close());
  await killing.kept(store);
}
