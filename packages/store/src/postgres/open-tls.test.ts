/** Over TLS, with a server that is taken away and comes back, and with certificates that are not the right ones. */
import assert from 'node:assert/strict';
import { EventEmitter, on, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { openPostgres as openPool, type Sql } from '@gantry/postgres';
import { create, TENANT, win } from '../contract/fixtures.ts';
import { StoreError } from '../error.ts';
import type { Store, StoreChange } from '../port.ts';
import { startTlsServer } from '../testing/postgres-tls.ts';
import { openPostgres } from './open.ts';

const server = await startTlsServer();
const skip = 'skip' in server ? server.skip : false;

function urlOf(change: Partial<Pick<URL, 'search' | 'hostname' | 'port' | 'password'>>): string {
  assert.ok('url' in server);
  return Object.assign(new URL(server.url), change).href;
}

/** Between the host and the server, which it takes away and gives back. */
async function openGate(t: TestContext) {
  const target = new URL(urlOf({}));
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const gate = createServer((socket) => {
    track(socket)
      .pipe(track(connect(Number(target.port), target.hostname)))
      .pipe(socket);
  });
  const listen = async (port: number): Promise<void> =>
    void (await once(gate.listen(port, '127.0.0.1'), 'listening'));
  await listen(0);
  const address = gate.address();
  assert.ok(address && typeof address === 'object');
  const shut = async (): Promise<void> => {
    const closed = once(gate.close(), 'close');
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  t.after(() => (gate.listening ? shut() : undefined));
  return { port: String(address.port), shut, reopen: () => listen(address.port) };
}

function trusting(t: TestContext): void {
  assert.ok('authority' in server);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, server.authority]);
  t.after(() => setDefaultCACertificates(before));
}

function pool(t: TestContext, url: string): Sql {
  const sql = openPool({ url, connectionsMax: 4, connectTimeoutS: 60, connection: {} });
  t.after(() => sql.end({ timeout: 0 }));
  return sql;
}

/** As it does when it is shut down. */
const endSessions = (sql: Sql) => sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where usename = current_user and pid <> pg_backend_pid()`;

/** What is heard until one is it. */
async function hearing(store: Store) {
  const emitter = new EventEmitter();
  const changes = on(emitter, 'change');
  await store.watch((change) => emitter.emit('change', change));
  return async (isIt: (change: StoreChange) => boolean): Promise<void> => {
    for (;;) if (isIt((await changes.next()).value?.[0])) return;
  };
}

const names = (runId: string) => (change: StoreChange) => change.runs.some((run) => run.runId === runId);

test('a store whose server is started anew goes on, hears again, and ends', { skip }, async (t) => {
  trusting(t);
  const gate = await openGate(t);
  const url = urlOf({ port: gate.port, search: 'sslmode=verify-full' });
  const [here, there] = await Promise.all([openPostgres({ url }), openPostgres({ url })]);
  t.after(() => Promise.all([here.close(), there.close()]));
  const heard = await hearing(here);
  await win(there, create('before'));
  await heard(names('before'));

  await gate.shut();
  await endSessions(pool(t, urlOf({ search: 'sslmode=require' })));
  const reads = () => Promise.allSettled([1, 2, 3, 4, 5].map(() => there.runs.row(TENANT, 'before')));
  for (const read of await reads()) assert.equal(read.status, 'rejected');
  await assert.rejects(there.commit([[create('lost')]]), { code: 'io' });
  await gate.reopen();

  for (const read of await reads()) assert.equal(read.status, 'fulfilled');
  await heard(({ missed }) => missed === true);
  // The answer to a notice may have been lost with the connections, though the notice was heard: then the next one names
  // no run, and says that something was missed
  for (let n = 0, isNamed = false; !isNamed; n++) {
    await win(there, create(`after-${n}`));
    await heard((change) => {
      isNamed = names(`after-${n}`)(change);
      return isNamed || change.missed === true;
    });
  }
});

test('sessions that the server ends one by one are replaced', { skip }, async (t) => {
  const sql = pool(t, urlOf({ search: 'sslmode=require' }));
  const admin = pool(t, urlOf({ search: 'sslmode=require' }));
  for (let round = 0; round < 3; round++) {
    await sql.begin((tx) => tx`select 1`);
    const sleeping = assert.rejects(sql.begin((tx) => tx`select pg_sleep(60)`));
    while (
      (await admin`select 1 from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'`)
        .length === 0
    );
    await endSessions(admin);
    await sleeping;
  }
});

test('an address is looked for in the certificate as it is, and so is a name', { skip }, async (t) => {
  const ask = async (hostname: string, search: string) => {
    const sql = pool(t, urlOf({ hostname, search }));
    const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  };
  await assert.rejects(ask('127.0.0.1', 'sslmode=verify-full'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  await assert.rejects(ask('127.0.0.1', 'sslmode=verify-ca'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  assert.equal(await ask('127.0.0.1', 'sslmode=require'), true);
  trusting(t);
  assert.equal(await ask('127.0.0.1', 'sslmode=verify-full'), true);
  await assert.rejects(ask('localhost', 'sslmode=verify-full'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  assert.equal(await ask('localhost', 'sslmode=verify-ca'), true);
});

test('what keeps a store from opening is told with the setting, the server and what to do', {
  skip,
}, async () => {
  const cases: readonly [string, RegExp][] = [
    [
      urlOf({}),
      / rejected the user, or connections from this address that are not encrypted\. Add \?sslmode=verify-full /,
    ],
    [
      urlOf({ search: 'sslmode=require', password: 'hush' }),
      / rejected the user or the password\. Correct them in/,
    ],
    [
      urlOf({ search: 'sslmode=verify-full' }),
      / cannot be reached safely over TLS \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\b.*NODE_EXTRA_CA_CERTS/,
    ],
    [
      urlOf({ search: 'sslmode=require&foo=hush' }),
      / does not know the parameter "foo" of the URL\. Correct it in/,
    ],
  ];
  for (const [url, why] of cases)
    await assert.rejects(openPostgres({ url }), (error) => {
      assert.ok(error instanceof StoreError && error.code === 'io');
      assert.match(error.message, /^GANTRY_DATABASE_URL: PostgreSQL at 127\.0\.0\.1:\d+ /);
      assert.match(error.message, why);
      assert.doesNotMatch(error.message, /hush/);
      return true;
    });
});
