/** The pool against a real server whose connections are cut amid work. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openPostgres, type Sql, type Tx } from '@gantry/postgres';
import { freshDatabase } from '../testing/postgres-server.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
after(() => 'drop' in database && database.drop());

const CONNECTIONS_MAX = 6;

/** Between the pool and the server; `cut` resets every connection, as a server that is killed does. */
async function openGate(url: URL) {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const server = createServer((socket) => {
    track(socket)
      .pipe(track(connect(Number(url.port), url.hostname)))
      .pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  const through = new URL(url);
  through.port = String(address.port);
  return {
    url: through.href,
    cut: () => sockets.forEach((socket) => void socket.resetAndDestroy()),
    close: () => server.close(),
  };
}

async function opened(t: { after(work: () => Promise<void>): void }) {
  assert.ok('url' in database);
  const gate = await openGate(new URL(database.url));
  const sql = openPostgres({
    url: gate.url,
    connectionsMax: CONNECTIONS_MAX,
    connectTimeoutS: 60,
    connection: { application_name: 'test' },
  });
  t.after(async () => {
    await sql.end({ timeout: 0 });
    gate.close();
  });
  return { sql, gate };
}

const increment = (sql: Sql) =>
  sql.begin(async (tx) => {
    const [row] = await tx<{ n: number }[]>`select n from counters where id = 1 for update`;
    await tx`update counters set n = ${row!.n + 1} where id = 1`;
  });

test('connections that are cut amid transactions take nothing else with them', { skip }, async (t) => {
  const { sql, gate } = await opened(t);
  await sql`create table counters (id integer primary key, n integer not null)`;
  await sql`insert into counters values (1, 0)`;
  let [done, failed] = [0, 0];
  const work = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn++)
      await Promise.all([increment(sql), sql`select 1`]).then(
        () => done++,
        () => failed++,
      );
  };
  const cutting = async (): Promise<void> => {
    for (let cuts = 0; cuts < 10; cuts++) {
      for (const before = done; done < before + 5 && done + failed < 8 * 40; )
        await increment(sql).catch(() => {});
      gate.cut();
    }
  };
  await Promise.all([cutting(), ...Array.from({ length: 8 }, work)]);
  const [row] = await sql<{ n: number }[]>`select n from counters`;
  assert.ok(failed > 0, 'something was cut');
  assert.ok(row!.n >= done, `${row!.n} were kept, ${done} acknowledged`);
  await increment(sql);
});

test('everyone who waits for a connection hears that it cannot be made', { timeout: 120_000 }, async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.resetAndDestroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  const sql = openPostgres({
    url: `postgres://nobody@127.0.0.1:${address.port}/none`,
    connectionsMax: CONNECTIONS_MAX,
    connectTimeoutS: 60,
    connection: {},
  });
  t.after(async () => {
    await sql.end({ timeout: 0 });
    server.close();
  });
  const ways = [
    async () => void (await sql`select 1`),
    () => increment(sql),
    () =>
      sql.exchange(async (tx) => {
        await Promise.all([tx`select 1`, tx`select 2`, tx`select 3`]);
        return { answer: null, last: [] };
      }),
  ];
  const asked = Array.from({ length: 60 }, (_, index) => ways[index % ways.length]!());
  const ended = await Promise.allSettled(asked);
  assert.ok(ended.every(({ status }) => status === 'rejected'));
});

test('what is thrown undoes a transaction, and a failure that nobody tells is told', { skip }, async (t) => {
  const { sql } = await opened(t);
  await sql`create table kept (id integer primary key)`;
  const insertAnd = (then: (tx: Tx) => Promise<unknown>) =>
    sql.begin(async (tx) => {
      await tx`insert into kept values (1)`;
      await then(tx);
    });
  await assert.rejects(
    insertAnd(async () => Promise.reject(new Error('mine'))),
    /mine/,
  );
  await assert.rejects(
    insertAnd((tx) => tx`insert into kept values (1)`.catch(() => {})),
    /ended with ROLLBACK/,
  );
  assert.deepEqual([...(await sql`select * from kept`)], []);
  await insertAnd(async () => {});
  assert.equal((await sql`select * from kept`).length, 1);
});

test('what goes with the commit is part of the transaction, and its failure undoes all of it', {
  skip,
}, async (t) => {
  const { sql } = await opened(t);
  await sql`create table exchanged (id integer primary key)`;
  const exchange = (...ids: readonly number[]) =>
    sql.exchange(async (tx) => {
      const [row] = await tx<{ n: number }[]>`select count(*) as n from exchanged`;
      return { answer: row!.n, last: ids.map((id) => tx`insert into exchanged values (${id})`) };
    });
  assert.equal(await exchange(1, 2), 0);
  await assert.rejects(exchange(3, 2, 4), { code: '23505' });
  await assert.rejects(
    sql.exchange(async (tx) => {
      await tx`insert into exchanged values (5)`;
      throw new Error('mine');
    }),
    /mine/,
  );
  assert.equal(await exchange(), 2);
  assert.equal((await Promise.all(Array.from({ length: 20 }, (_, id) => exchange(10 + id)))).length, 20);
  assert.equal(await exchange(), 22);
});

test('a statement that comes after its transaction is refused, not put into the next one', {
  skip,
}, async (t) => {
  const { sql } = await opened(t);
  const left = await sql.begin(async (tx) => ({ late: () => tx`select 1` }));
  await assert.rejects(async () => left.late(), { code: 'CONNECTION_CLOSED' });
});

test('more transactions than connections wait for each other', { skip }, async (t) => {
  const { sql } = await opened(t);
  const pids = await Promise.all(
    Array.from({ length: 30 }, () =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        return row!.pid;
      }),
    ),
  );
  assert.ok(new Set(pids).size <= CONNECTIONS_MAX);
  const [mode] = await sql.begin('read only', (tx) => tx`show transaction_read_only`);
  assert.equal(mode?.transaction_read_only, 'on');
});

test('a pool that was ended takes nothing more', { skip }, async (t) => {
  const { sql } = await opened(t);
  await sql`select 1`;
  await sql.end({ timeout: 1 });
  await assert.rejects(
    sql.begin((tx) => tx`select 1`),
    { code: 'CONNECTION_ENDED' },
  );
  await assert.rejects(async () => sql`select 1`, { code: 'CONNECTION_ENDED' });
});
