/** What queues read, however much there is. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { QUEUE_CONTRACT_BOUNDS } from '../ports/queue-user-contract.ts';
import { NOW } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { queueArea } from './queue.ts';
import { DROP_CONSUMED } from './queue-messages.ts';

const { retentionMs } = QUEUE_CONTRACT_BOUNDS;
const LEASE = { topic: 't', group: '', messagesMax: 2, visibilityMs: 60_000, ifEmpty: 'answer' } as const;

/** As the writer has it, with how often it looked for what can go. */
async function openWriter(t: TestContext, quotaBytes: number) {
  const folder = freshFolder();
  const opened = await openEmbeddedDatabase({ dataDir: folder.path });
  await opened.read('queue', 'lastSeq', '', '');
  await opened.close();
  const database = new DatabaseSync(join(folder.path, 'surfaces.db'));
  t.after(() => {
    database.close();
    folder.remove();
  });
  const { prepare } = database;
  const looks: { callCount(): number }[] = [];
  t.mock.method(database, 'prepare', (sql: string) => {
    const statement = prepare.call(database, sql);
    if (sql === DROP_CONSUMED) looks.push(t.mock.method(statement, 'run').mock);
    return statement;
  });
  const area = queueArea.writes(database);
  const factsAt = (now: number) => ({
    tenant: 'acme',
    now,
    bounds: { ...QUEUE_CONTRACT_BOUNDS, quotaBytes },
  });
  const publish = (payload: string, now = NOW, delayMs = 0) =>
    area.publish({ topic: 't', payload, headers: {}, delayMs }, { ...factsAt(now), messageId: 'm' });
  return { database, area, publish, factsAt, looks: () => looks[0]?.callCount() };
}

const FULL = { code: 'queue_backend_unavailable' };

test('that nothing can go for others is found out once, until a group is done with something', async (t) => {
  const { area, publish, factsAt, looks } = await openWriter(t, 2_800);
  for (const text of ['a', 'b']) publish(text.padEnd(1_000, text));
  const { handles } = area.lease(LEASE, factsAt(NOW));
  assert.equal(handles.length, 2);
  const large = 'c'.repeat(1_000);
  for (let n = 0; n < 5; n++) assert.throws(() => publish(large), FULL);
  assert.equal(looks(), 1);
  publish('small');
  assert.equal(looks(), 1, 'what fits is not looked for');
  area.settle(handles[0]!, { kind: 'done' }, factsAt(NOW));
  publish(large);
  for (let n = 0; n < 5; n++) assert.throws(() => publish(large), FULL);
  assert.equal(looks(), 3, 'one that made room, one in vain');
  publish(large, NOW + retentionMs);
});

test('messages that no group has come to are not looked at to make room', async (t) => {
  const { database } = await openWriter(t, 1_000);
  const plan = database.prepare(`explain query plan ${DROP_CONSUMED}`).all('acme', 'acme');
  const details = plan.map(({ detail }) => String(detail));
  const range = 'SEARCH m USING COVERING INDEX queue_messages_by_topic (tenant=? AND topic=? AND seq<?)';
  assert.ok(details.includes(range), details.join('\n'));
});

test('a group passes what has expired once, and nothing else', async (t) => {
  const { database, area, publish, factsAt } = await openWriter(t, 100_000);
  const nextSeq = () => database.prepare('select next_seq from queue_groups').get()?.next_seq;
  for (let n = 0; n < 30; n++) publish(`${n}`);
  const later = NOW + retentionMs;
  assert.deepEqual(area.lease(LEASE, factsAt(later)).handles, []);
  assert.equal(nextSeq(), 31);
  publish('delayed', later, 1_000);
  publish('now', later);
  assert.equal(area.lease({ ...LEASE, messagesMax: 1 }, factsAt(later)).handles.length, 1);
  assert.equal(nextSeq(), 33);
  assert.equal(area.lease(LEASE, factsAt(later + 1_000)).handles.length, 1, 'what was delayed');
});
