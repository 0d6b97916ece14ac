/** Every backend of the surfaces, with the same work done by its own client. */
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Json } from '@gantry/protocol';
import type { BackendSettings } from '@gantry/surfaces';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';
import { openMariadb, openPostgres } from './surfaces-databases.ts';
import { openRetrieval } from './surfaces-retrieval.ts';
import { openS3 } from './surfaces-s3.ts';
import {
  BATCH,
  type CallName,
  OBJECT_BYTES,
  PLACES,
  placeOf,
  TEXT,
  textOf,
  type Work,
} from './surfaces-works.ts';

export interface OpenedBackend {
  readonly settings: BackendSettings;
  /** Of the surfaces, where there is something in it already. */
  readonly dataDir?: string;
  /** What is asked in turn. */
  readonly questions?: Partial<Record<CallName, readonly Json[]>>;
  /** In the order in which they are measured. */
  readonly works: Partial<Record<CallName, Work>>;
  close(): Promise<void>;
}

/** Rejects with the reason when this machine has no such server. */
export type Backend = (settings: Settings) => Promise<OpenedBackend>;

export const BACKENDS: Readonly<Record<string, Backend>> = {
  embedded: ({ dataDir }) => openEmbedded(dataDir),
  'embedded, retrieval': ({ dataDir, retrievalItems }) => openRetrieval(dataDir, retrievalItems),
  PostgreSQL: ({ dataDir }) => openPostgres(dataDir),
  MariaDB: ({ dataDir }) => openMariadb(dataDir),
  S3: openS3,
};

/** The file that names the data source of the SQL rows. */
export function datasourceFile(dataDir: string, place: Readonly<Record<string, string>>): string {
  const file = path.join(freshFolder(dataDir), 'datasources.json');
  writeFileSync(file, JSON.stringify({ datasources: [{ id: 'bench', tenants: '*', ...place }] }));
  return file;
}

/** SQLite without anything around it: every write is a commit with its sync, as whoever calls it directly has it. */
async function openEmbedded(dataDir: string): Promise<OpenedBackend> {
  const folder = freshFolder(dataDir);
  const source = path.join(folder, 'source.db');
  openSqlSource(source).close();
  const database = new DatabaseSync(path.join(folder, 'direct.db'));
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full;
    create table kv (key text primary key, value text);
    create table queue (id integer primary key, topic text, payload text, taken integer);
  `);
  const sql = openSqlSource(path.join(folder, 'direct-sql.db'));
  return {
    settings: { datasources: datasourceFile(dataDir, { driver: 'sqlite', file: source }) },
    works: { ...keyWorks(database), ...queueWork(database), ...sqlWorks(sql), ...fileWorks(folder) },
    async close() {
      database.close();
      sql.close();
    },
  };
}

const once =
  (act: (lane: number, turn: number) => unknown): Work =>
  async (lane, turn) => {
    act(lane, turn);
    return 1;
  };

function keyWorks(database: DatabaseSync) {
  const put = database.prepare(
    'insert into kv values (?, ?) on conflict do update set value = excluded.value',
  );
  const get = database.prepare('select value from kv where key = ?');
  const entryOf = (turn: number): string => JSON.stringify({ text: textOf(turn) });
  return {
    'kv put': once((lane, turn) => put.run(`k${placeOf(lane, turn)}`, entryOf(turn))),
    'kv get': once((...at) => JSON.parse(String(get.get(`k${placeOf(...at)}`)?.value))),
  };
}

function queueWork(database: DatabaseSync) {
  const publish = database.prepare('insert into queue (topic, payload, taken) values (?, ?, 0)');
  const take = database.prepare(`
    update queue set taken = 1 where id in (select id from queue where topic = ? and taken = 0 order by id limit ?)
    returning id, payload
  `);
  const ack = database.prepare('delete from queue where id = ?');
  const payload = JSON.stringify({ text: TEXT });
  return {
    'queue publish to ack': async (lane: number) => {
      for (let index = 0; index < BATCH; index++) publish.run(`lane-${lane}`, payload);
      for (const { id } of take.all(`lane-${lane}`, BATCH)) ack.run(Number(id));
      return BATCH;
    },
  };
}

function openSqlSource(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full;
    create table bench (id integer primary key, value text); begin;
  `);
  const insert = database.prepare('insert into bench values (?, ?)');
  for (let id = 0; id < PLACES; id++) insert.run(id, TEXT);
  database.exec('commit');
  return database;
}

function sqlWorks(database: DatabaseSync) {
  const update = database.prepare('update bench set value = ? where id = ?');
  const select = database.prepare('select value from bench where id = ?');
  return {
    'sql update': once((lane, turn) => update.run(textOf(turn), placeOf(lane, turn))),
    'sql select': once((...at) => select.all(placeOf(...at))),
  };
}

/** A file and its sync; nothing that a crash in between would ask for. */
function fileWorks(folder: string) {
  const bytes = new Uint8Array(OBJECT_BYTES);
  const fileOf = (lane: number, turn: number): string => path.join(folder, `o${placeOf(lane, turn)}`);
  return {
    'blob put': once((...at) => {
      const file = openSync(fileOf(...at), 'w');
      writeSync(file, bytes);
      fsyncSync(file);
      closeSync(file);
    }),
    'blob get': once((...at) => readFileSync(fileOf(...at))),
  };
}
