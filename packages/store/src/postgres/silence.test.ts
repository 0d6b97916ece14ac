/** Connections that give no sign of their end: nothing is reset, and nothing passes. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { openPostgres, type Sql } from '@gantry/postgres';
import { openProxy, type PostgresProxy } from '../testing/postgres-proxy.ts';
import { freshDatabase } from '../testing/postgres-server.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
after(() => 'drop' in database && database.drop());

async function opened(
  t: TestContext,
  statementTimeoutMs?: number,
): Promise<{ sql: Sql; proxy: PostgresProxy }> {
  assert.ok('url' in database);
  const proxy = await openProxy(database.url);
  const sql = openPostgres({
    url: proxy.url,
    connectionsMax: 2,
    connectTimeoutS: 10,
    connection: {},
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  });
  t.after(async () => {
    await sql.end();
    await proxy.close();
  });
  return { sql, proxy };
}

test('a statement without an answer loses its connection, and the next one has another', {
  skip,
}, async (t) => {
  const { sql, proxy } = await opened(t, 1_500);
  await Promise.all([sql`select 1`, sql.begin((tx) => tx`select 1`)]);
  assert.ok(proxy.silence() >= 2);
  await assert.rejects(
    sql.begin((tx) => tx`select 1`),
    { code: 'STATEMENT_TIMEOUT' },
  );
  assert.equal((await sql.begin((tx) => tx`select 1`)).length, 1);
});

test('an answer that comes late but steadily is waited for; what is unhurried has no deadline', {
  skip,
}, async (t) => {
  const { sql } = await opened(t, 1_000);
  await sql.begin((tx) => Promise.all([tx`select pg_sleep(0.55)`, tx`select pg_sleep(0.55)`]));
  await sql.unhurried((tx) => tx`select pg_sleep(1.3)`);
  await assert.rejects(
    sql.begin((tx) => tx`select pg_sleep(1.3)`),
    { code: 'STATEMENT_TIMEOUT' },
  );
});

test('a probe throws away idle connections that are silent, and keeps the others', { skip }, async (t) => {
  const { sql, proxy } = await opened(t);
  await sql.begin((tx) => tx`select 1`);
  await sql.probe({ idleMs: 0, timeoutMs: 5_000 });
  await sql.begin((tx) => tx`select 1`);
  assert.equal(proxy.connectionsMade, 1);
  assert.equal(proxy.silence(), 1);
  await sql.probe({ idleMs: 60_000, timeoutMs: 1 });
  await sql.probe({ idleMs: 0, timeoutMs: 200 });
  await sql.begin((tx) => tx`select 1`);
  assert.equal(proxy.connectionsMade, 2);
});

test('a prompt statement waits neither for others nor long for a silent connection', { skip }, async (t) => {
  const { sql, proxy } = await opened(t, 60_000);
  const prompt = () => sql.promptly((own) => own`select 1 as one`);
  assert.equal((await prompt()).length, 1);
  proxy.silence();
  const others = Array.from({ length: 8 }, () => sql`select 1`.catch(() => []));
  proxy.silence();
  assert.equal((await prompt()).length, 1);
  await assert.rejects(
    sql.promptly((own) => own`select 1 / 0`),
    { code: '22012' },
  );
  proxy.cut();
  await Promise.all(others);
  assert.equal((await prompt()).length, 1);
});

test('what lasts as long as a session is made again with the next one', { skip }, async (t) => {
  const { sql, proxy } = await opened(t);
  let heard = Promise.withResolvers<string>();
  let ready = Promise.withResolvers<void>();
  const standing = sql.stand({
    statements: () => ['select pg_advisory_lock_shared(7, 7)', 'listen "standing"'],
    onNotice: (payload) => heard.resolve(payload),
    onReady: () => ready.resolve(),
  });
  await standing.ready;
  for (const lose of [() => proxy.cut(), () => standing.renew()]) {
    ready = Promise.withResolvers();
    lose();
    await ready.promise;
    heard = Promise.withResolvers();
    await sql`select pg_notify('standing', 'again')`;
    assert.equal(await heard.promise, 'again');
  }
  const locks = await sql`select 1 from pg_locks where locktype = 'advisory' and classid = 7 and objid = 7`;
  assert.ok(locks.length >= 1);
});
