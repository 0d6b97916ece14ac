/** PostgreSQL and MariaDB from this machine, and their own clients. */
import { freshDatabase } from '../packages/store/src/testing/postgres-server.ts';
import { datasourceFile, type OpenedBackend } from './surfaces-backends.ts';
import { BATCH, PLACES, placeOf, TEXT, textOf, type Work } from './surfaces-works.ts';

/** About as many as the surfaces have. */
const CONNECTIONS = 10;

const once =
  (act: (lane: number, turn: number) => Promise<unknown>): Work =>
  async (lane, turn) => {
    await act(lane, turn);
    return 1;
  };

export async function openPostgres(dataDir: string): Promise<OpenedBackend> {
  const found = await freshDatabase();
  if ('skip' in found) throw new Error(found.skip);
  const { default: postgres } = await import('postgres');
  const sql = postgres(found.url, { max: CONNECTIONS, onnotice: () => {} });
  await sql`create table bench (id integer primary key, value text not null)`;
  await sql`insert into bench select id, ${TEXT} from generate_series(0, ${PLACES - 1}) id`;
  await sql`create table direct_kv (key text primary key, value jsonb not null)`;
  await sql`create table direct_queue (id serial primary key, topic text not null, payload jsonb not null, taken boolean)`;
  const { url } = found;
  const keyOf = (lane: number, turn: number): string => `k${placeOf(lane, turn)}`;
  return {
    settings: { kv: url, queue: url, datasources: datasourceFile(dataDir, { driver: 'postgres', url }) },
    works: {
      'kv put': once(
        (lane, turn) =>
          sql`insert into direct_kv values (${keyOf(lane, turn)}, ${sql.json({ text: textOf(turn) })}) on conflict (key) do update set value = excluded.value`,
      ),
      'kv get': once((...at) => sql`select value from direct_kv where key = ${keyOf(...at)}`),
      'queue publish to ack': async (lane) => {
        const [topic, payload] = [`lane-${lane}`, sql.json({ text: TEXT })];
        const publish = () => sql`insert into direct_queue (topic, payload) values (${topic}, ${payload})`;
        await Promise.all(Array.from({ length: BATCH }, publish));
        const taken = await sql`
          update direct_queue set taken = true where id in (
            select id from direct_queue where topic = ${topic} and taken is null order by id limit ${BATCH}
            for update skip locked
          ) returning id, payload`;
        await Promise.all(taken.map(({ id }) => sql`delete from direct_queue where id = ${id}`));
        return BATCH;
      },
      'sql update': once(
        (lane, turn) => sql`update bench set value = ${textOf(turn)} where id = ${placeOf(lane, turn)}`,
      ),
      'sql select': once((...at) => sql`select value from bench where id = ${placeOf(...at)}`),
    },
    async close() {
      await sql.end();
      await found.drop();
    },
  };
}

export async function openMariadb(dataDir: string): Promise<OpenedBackend> {
  const { findMysql } = await import('../packages/surfaces/src/testing/mariadb.ts');
  const found = await findMysql();
  if ('skip' in found) throw new Error(found.skip);
  const { createPool } = await import('mysql2/promise');
  const name = `gantry_bench_${process.pid}`;
  const administer = createPool({ uri: found.url, connectionLimit: 1 });
  await administer.query(`create database ${name}`);
  const url = new URL(found.url);
  url.pathname = `/${name}`;
  const pool = createPool({ uri: url.href, connectionLimit: CONNECTIONS });
  await pool.query('create table bench (id integer primary key, value text not null)');
  const rows = Array.from({ length: PLACES }, (_, id) => [id, TEXT]);
  await pool.query('insert into bench values ?', [rows]);
  return {
    settings: { datasources: datasourceFile(dataDir, { driver: 'mysql', url: url.href }) },
    works: {
      'sql update': once((lane, turn) =>
        pool.execute('update bench set value = ? where id = ?', [textOf(turn), placeOf(lane, turn)]),
      ),
      'sql select': once((...at) => pool.execute('select value from bench where id = ?', [placeOf(...at)])),
    },
    async close() {
      await pool.end();
      await administer.query(`drop database ${name}`);
      await administer.end();
    },
  };
}
