import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import postgres from 'postgres';
import { createPostgresPool } from '../postgres-pool.ts';
import { freshTenant, write } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { openPostgresDatabase, type PostgresDatabase } from './connection.ts';

const unavailable = { code: 'storage_unavailable' };

test('an unreachable server is named without its password', async () => {
  const database = openPostgresDatabase({ url: 'postgres://gantry:open-sesame@127.0.0.1:1/gantry' });
  await assert.rejects(database.health(), (error) => {
    assert.ok(error instanceof OpenwopError);
    assert.equal(error.code, 'storage_unavailable');
    assert.match(error.message, /127\.0\.0\.1:1\b/);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});

describe('surfaces in PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres | null = null;
  const server = (): OpenedPostgres => opened ?? assert.fail('not open');
  before(async () => {
    opened = await openTestPostgres();
  });
  after(() => opened?.close());
  once(() => server().database);
  outages(server);

  test('several processes may start at once; ports with one address share a pool', async () => {
    const databases = [1, 2, 3].map(() => openPostgresDatabase(server()));
    await Promise.all(databases.map((each) => each.health()));
    await Promise.all(databases.map((each) => each.close()));
    const pool = createPostgresPool();
    assert.equal(await pool.open(server().url), await pool.open(server().url));
    await pool.close();
  });

  test('data of a newer version is refused', async (t) => {
    const sql = postgres(server().url, { max: 1 });
    t.after(() => sql.end());
    const [row] = await sql`select version from gantry_surfaces.schema_version`;
    await sql`update gantry_surfaces.schema_version set version = 999`;
    const database = openPostgresDatabase(server());
    t.after(database.close);
    const refused = { ...unavailable, message: /version 999/ };
    await assert.rejects(database.health(), refused);
    await assert.rejects(
      database.read((sql) => sql`select 1`),
      refused,
    );
    await sql`update gantry_surfaces.schema_version set version = ${row?.version}`;
  });
});

function once(database: () => PostgresDatabase): void {
  test('I1: calls with one id act once, and all get its answer', async () => {
    const call = write(freshTenant());
    let acted = 0;
    const act = () => database().write(call, async () => ({ acted: ++acted }));
    const answers = await Promise.all([act(), act(), act(), act()]);
    assert.deepEqual(answers, Array(4).fill({ acted: 1 }));
    assert.deepEqual(await act(), { acted: 1 });
  });

  test('I1: another call with the id is refused; what fails leaves no trace', async () => {
    const tenant = freshTenant();
    await database().write(write(tenant, { id: 'a', method: 'x.one' }), async () => null);
    await assert.rejects(
      database().write(write(tenant, { id: 'a', method: 'x.two' }), async () => null),
      { code: 'idempotency_key_mismatch' },
    );
    const call = write(tenant);
    await assert.rejects(
      database().write(call, () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.deepEqual(await database().write(call, async () => ({ ok: true })), { ok: true });
  });
}

function outages(server: () => OpenedPostgres): void {
  test('I3: a server that goes away is unavailable, and usable when it is back', async (t) => {
    const url = new URL(server().url);
    const gate = await openGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const database = openPostgresDatabase({ url: url.href });
    t.after(async () => {
      await database.close();
      await gate.close();
    });
    await database.health();
    const call = write(freshTenant());
    await gate.shut();
    await assert.rejects(database.health(), unavailable);
    await assert.rejects(
      database.write(call, async () => ({ tried: 1 })),
      unavailable,
    );
    await gate.reopen();
    assert.deepEqual(await database.write(call, async () => ({ tried: 2 })), { tried: 2 });
  });

  test('I2: a server that goes silent keeps nobody waiting for ever', async (t) => {
    const url = new URL(server().url);
    const gate = await openGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const database = openPostgresDatabase({ url: url.href });
    t.after(() => gate.close());
    await database.health();
    gate.hush();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = assert.rejects(database.health(), unavailable);
    t.mock.timers.tick(60_000);
    await asked;
    t.mock.timers.reset();
    await gate.close();
    await database.close();
  });
}
