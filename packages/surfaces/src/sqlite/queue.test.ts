import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { embeddedQueue } from '../capabilities/queue/embedded-queue.ts';
import { QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { MESSAGES } from './queue-messages.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };

async function opened(dataDir: string) {
  const database = await openEmbeddedDatabase({ dataDir });
  const port = embeddedQueue(database, deps);
  return { ...userOf(port, 'acme'), database };
}

test('messages, leases and counts go on through a restart', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const first = await opened(folder.path);
  for (let n = 0; n < 3; n++) await first.publish('t', n);
  const held = await first.takeOne('t', { waitMs: 0 });
  const returned = await first.takeOne('t', { waitMs: 0 });
  await first.nack(returned);
  await first.database.close();
  const second = await opened(folder.path);
  t.after(() => second.database.close());
  const got = await second.take('t');
  assert.deepEqual(
    got.map(({ payload, deliveryCount }) => [payload, deliveryCount]),
    [
      [1, 2],
      [2, 1],
    ],
  );
  await second.ack(held);
});

test('what every group is done with makes room; a sweep takes what is past its time, and idle groups', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { publish, take, ack, port, database } = await opened(folder.path);
  t.after(() => database.close());
  const payload = 'x'.repeat(25_000);
  for (let n = 0; n < 12; n++) {
    await publish('t', payload);
    for (const delivery of await take('t')) await ack(delivery);
  }
  await publish('t', 'last');
  const later = Date.now() + QUEUE_CONTRACT_BOUNDS.retentionMs;
  const swept = await port.sweep(later);
  assert.ok(swept > 0 && swept < 12, `${swept} were left`);
  assert.equal(await port.sweep(later), 0);
  assert.deepEqual(await take('t'), []);
  await publish('t', 'anew');
  assert.equal((await take('t'))[0]?.payload, 'anew');
});

test('many delayed messages do not hide those behind them', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { port, take, tenant, database, publish } = await opened(folder.path);
  t.after(() => database.close());
  const draft = { topic: 't', payload: 'later', headers: {}, delayMs: 60_000 };
  await Promise.all(
    Array.from({ length: 450 }, () => port.publish(draft, write(tenant, { now: Date.now() }))),
  );
  await publish('t', 'now');
  assert.deepEqual(
    (await take('t')).map(({ payload }) => payload),
    ['now'],
  );
});

test('a sweep takes groups of topics whose messages made room for others', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { publish, drain, port, database } = await opened(folder.path);
  await publish('left', 'x'.repeat(25_000));
  await drain('left');
  for (let n = 0; n < 5; n++) await publish('t', 'x'.repeat(25_000));
  assert.equal(await port.sweep(Date.now()), 0, 'no message is past its time');
  await database.close();
  const file = new DatabaseSync(join(folder.path, 'surfaces.db'), { readOnly: true });
  t.after(() => file.close());
  assert.deepEqual(file.prepare('select topic from queue_groups').all(), []);
});

test('what groups were given is on record without its payload', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { publish, take, database } = await opened(folder.path);
  await publish('t', 'x'.repeat(50_000));
  for (const group of ['', 'a', 'b']) assert.equal((await take('t', { group })).length, 1);
  await database.close();
  const file = new DatabaseSync(join(folder.path, 'surfaces.db'), { readOnly: true });
  t.after(() => file.close());
  const recorded = file
    .prepare('select count(*) as calls, sum(length(answer)) as bytes from invocations')
    .get();
  assert.equal(recorded?.calls, 4);
  assert.ok(Number(recorded.bytes) < 1_000, `${recorded.bytes} bytes`);
});

test('messages are found by their numbers, however many their tenant has', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { publish, database } = await opened(folder.path);
  await publish('t', 1);
  await database.close();
  const file = new DatabaseSync(join(folder.path, 'surfaces.db'), { readOnly: true });
  t.after(() => file.close());
  const plan = file.prepare(`explain query plan ${MESSAGES}`).all('acme', '[1]');
  assert.equal(plan[0]?.detail, 'SEARCH queue_messages USING INTEGER PRIMARY KEY (rowid=?)');
});
