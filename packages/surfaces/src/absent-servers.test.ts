import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { absentServer, absentServerTest, openWorld } from './testing/absent-server.ts';
import { freshFolder } from './testing/data-dir.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { openTestS3, useTestCredentials } from './testing/s3.ts';
import { type Call, nodeOf } from './testing/test-call-gate.ts';

const increment = (call: Call) => call('storage.kv.atomicIncrement', { key: 'n' });
const cached = (call: Call) => call('storage.cache.put', { key: 'k', value: 1, ttlSeconds: 9 });

let postgres: Promise<OpenedPostgres> | null = null;
const postgresUrl = async (): Promise<string> => {
  postgres ??= openTestPostgres();
  return (await postgres).url;
};
after(async () => (await postgres)?.close());

absentServerTest('PostgreSQL', {
  skip: postgresSkip,
  url: postgresUrl,
  settings: ({ url }) => ({
    kv: url,
    cache: url,
    documents: url,
    vectors: url,
    search: url,
    queue: url,
  }),
  calls: {
    kvStorage: increment,
    cache: cached,
    tableStorage: (call) => call('storage.table.insert', { table: 't', row: { id: 'r' } }),
    nosql: (call) => call('db.nosql.insert', { datasourceId: 'primary', collection: 'c', doc: {} }),
    vectorStore: (call) =>
      call('db.vector.upsert', { collection: 'v', vectors: [{ id: 'v', embedding: [1] }] }),
    searchIndex: (call) =>
      call('db.search.index', { index: 'i', docs: [{ id: 'd', fields: { text: 'lighthouse' } }] }),
    queueBus: (call) => call('queueBus.publish', { topic: 't', payload: 1 }),
  },
});

useTestCredentials();
const s3Url = async (t: { after(work: () => Promise<void>): void }): Promise<string> => {
  const { host, port, close } = await openTestS3('objects');
  t.after(close);
  return `http://${host}:${port}`;
};

absentServerTest('S3', {
  url: s3Url,
  settings: ({ address }) => ({ blobs: `s3://objects?endpoint=http://${address}` }),
  calls: {
    blobStorage: (call) =>
      call('storage.blob.put', { bucket: 'artifacts', key: 'k', bytes: new Uint8Array(1) }),
  },
});

const folder = freshFolder();
after(folder.remove);

function datasourcesFile(url: string): string {
  const file = join(folder.path, 'datasources.json');
  writeFileSync(
    file,
    JSON.stringify({ datasources: [{ id: 'crm', driver: 'postgres', url, tenants: ['acme'] }] }),
  );
  return file;
}

absentServerTest('a SQL data source', {
  skip: postgresSkip,
  url: postgresUrl,
  settings: ({ url }) => ({ datasources: datasourcesFile(url) }),
  calls: {
    sql: (call) => call('db.sql.query', { datasourceId: 'crm', sql: 'select 1 as n', params: [] }),
  },
});

test('a server that comes back refusing is the problem, and the answer to each call', {
  skip: postgresSkip,
}, async (t) => {
  const [wrong, missing] = [new URL(await postgresUrl()), new URL(await postgresUrl())];
  wrong.password = 'open-sesame';
  missing.pathname = '/none-of-that-name';
  const servers = await Promise.all([absentServer(wrong.href), absentServer(missing.href)]);
  const [kv, cache] = servers.map(({ url }) => url);
  const { told, world, opened } = await openWorld(t, { kv, cache }, ...servers);
  assert.equal(told.length, 2, 'one line for each server');
  await Promise.all(servers.map((each) => each.appear()));
  const cases = [
    ['kvStorage', increment, /rejected the user or the password/],
    ['cache', cached, /has no database of that name/],
  ] as const;
  for (const [capability, call, problem] of cases) {
    await assert.rejects(call(nodeOf(world)), { code: 'storage_unavailable', message: problem });
    assert.deepEqual(world.reports.at(-1)?.server, 'rejected', 'the operator’s log says so');
    const health = (await opened.health()).find((each) => each.capability === capability);
    assert.ok(health?.state === 'rejected', JSON.stringify(health));
    assert.match(health.problem, problem);
  }
});

test('a data source that refuses stops no start, and health says that someone has to mend it', {
  skip: postgresSkip,
}, async (t) => {
  const url = new URL(await postgresUrl());
  url.password = 'open-sesame';
  const { told, opened, world } = await openWorld(t, { datasources: datasourcesFile(url.href) });
  const line = /^GANTRY_DATASOURCES: Data source "crm": PostgreSQL rejected the user or the password/;
  assert.match(String(told), line);
  const health = (await opened.health()).find(({ state }) => state !== 'up');
  assert.ok(health?.state === 'rejected', JSON.stringify(health));
  assert.match(health.problem, line);
  const calls = { 'db.sql.query': 'select 1 as n', 'db.sql.execute': 'delete from t' };
  for (const [path, sql] of Object.entries(calls)) {
    const asked = nodeOf(world)(path, { datasourceId: 'crm', sql, params: [] });
    await assert.rejects(asked, { code: 'storage_unavailable', message: /^PostgreSQL rejected/ });
    const { server, fault } = world.reports.at(-1) ?? {};
    assert.deepEqual([server, fault instanceof Error], ['rejected', true], 'the log has the cause');
  }
});

test('a server that refuses for good stops the start, with the setting and without the password', {
  skip: postgresSkip,
}, async (t) => {
  const stops = (backends: Parameters<typeof openWorld>[1], why: RegExp) =>
    assert.rejects(openWorld(t, backends), ({ message }: Error) => {
      assert.match(message, why);
      assert.doesNotMatch(message, /open-sesame/);
      return true;
    });
  const [wrong, missing] = [new URL(await postgresUrl()), new URL(await postgresUrl())];
  wrong.password = 'open-sesame';
  missing.pathname = '/none-of-that-name';
  await stops(
    { documents: wrong.href },
    /^GANTRY_DOCUMENTS: PostgreSQL at .* rejected the user or the password/,
  );
  await stops({ queue: missing.href }, /^GANTRY_QUEUE: PostgreSQL at .* has no database/);
  const endpoint = await s3Url(t);
  await stops({ blobs: `s3://absent?endpoint=${endpoint}` }, /^GANTRY_BLOBS: S3 at \S+\/absent .*\(404\)/);
});

test('a setting that can never work is told by its name', async (t) => {
  await assert.rejects(
    openWorld(t, { blobs: 's3://key:open-sesame@objects' }),
    /^Error: GANTRY_BLOBS: Put cred/,
  );
  await assert.rejects(
    openWorld(t, { datasources: join(folder.path, 'none') }),
    /^Error: GANTRY_DATASOURCES: /,
  );
});
