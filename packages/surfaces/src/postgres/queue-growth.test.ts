/** What queues read, however much there is. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { freshTenant, NOW, write } from '../testing/calls.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import type { Tx } from './connection.ts';
import { postgresQueue } from './queue.ts';
import { byNumber, fromNumber, lastFirst, loadGroups } from './queue-groups.ts';
import { consumed } from './queue-messages.ts';

const MANY = 3_000;
const { retentionMs } = QUEUE_CONTRACT_BOUNDS;

const add = (tenant: string, topic: string, count: number): string => `
  insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
  select '${tenant}', '${topic}', 'm' || n, '1', '{}', 260, ${NOW}, ${NOW + retentionMs}
  from generate_series(1, ${count}) n
`;

/** Rows of messages that the session has read since it last reported them, which it does about once a second. */
async function rowsRead(tx: Tx): Promise<number> {
  const [read] = await tx<{ rows: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables where relname = 'queue_messages'
  `;
  return read!.rows;
}

describe('PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres | null = null;
  const database = () => opened?.database ?? assert.fail('the database is not open');
  const bounds = { ...QUEUE_CONTRACT_BOUNDS, quotaBytes: 1_048_576 };
  const queue = () => postgresQueue(database(), { now: Date.now, report: () => {}, bounds });
  const used = async (tenant: string) => {
    const [found] = await database().read(
      (sql) => sql<{ bytes: number; counted: number }[]>`
        select (select coalesce(sum(bytes), 0)::bigint from queue_messages where tenant = ${tenant}) as bytes,
          (select bytes from usage where area = 'queue_messages' and tenant = ${tenant}) as counted
      `,
    );
    return found!;
  };
  before(async () => {
    opened = await openTestPostgres();
  });
  after(() => opened?.close());

  test('what a tenant has is counted in one row', async () => {
    const { tenant, publish } = userOf(queue(), freshTenant());
    for (const topic of ['a', 'b', 'c']) await publish(topic, 1);
    const { bytes, counted } = await used(tenant);
    assert.ok(bytes > 0 && bytes === counted, `${counted} of ${bytes} bytes`);
    await queue().sweep(Date.now() + retentionMs);
    assert.deepEqual(await used(tenant), { bytes: 0, counted: 0 });
    await database().upkeep((tx) => tx.unsafe(`${add('grown', 'quiet', 2)}; ${add('grown', 'busy', MANY)}`));
  });

  test('a quiet topic is read without what came to others', async () => {
    await database().upkeep(async (tx) => {
      await tx`insert into queue_groups (tenant, topic, name, next_seq) values ('grown', 'quiet', '', 0)`;
      const lease = { topic: 'quiet', group: '', messagesMax: 1 };
      const before = await rowsRead(tx);
      const groups = await loadGroups(tx, { tenant: 'grown', now: NOW }, [lease]);
      assert.equal([...groups.values()][0]?.fresh.length, 2);
      const rows = (await rowsRead(tx)) - before;
      assert.ok(rows > 0 && rows < 10, `${rows} rows`);
    });
  });

  test('only the index by place finds messages of a topic, and those that all groups are done with', async () => {
    await database().upkeep(async (tx) => {
      const range = fromNumber(tx, { tenant: 'grown', topic: 'busy', from: 5 });
      for (const statement of [
        tx`select available_at from queue_messages where ${range} ${byNumber(tx)} limit 10`,
        tx`select seq from queue_messages where ${range} ${lastFirst(tx)} limit 1`,
        consumed(tx, 'grown'),
      ]) {
        const plan = JSON.stringify(await tx`explain ${statement}`);
        assert.match(plan, /queue_messages_by_place/);
        assert.doesNotMatch(plan, /Seq Scan on queue_messages|queue_messages_(pkey|of_tenant|by_expiry)/);
      }
    });
  });

  test('a group passes what has expired once, and nothing else', async () => {
    const { tenant, port, take, publish } = userOf(queue(), freshTenant());
    const longAgo = Date.now() - retentionMs - 1;
    const draft = { topic: 't', payload: 0, headers: {}, delayMs: 0 };
    for (let n = 0; n < 3; n++) await port.publish(draft, write(tenant, { now: longAgo }));
    const left = async () => {
      const [found] = await database().read(
        (sql) => sql<{ messages: number }[]>`
          select count(*) as messages from queue_messages m join queue_groups g using (tenant, topic)
          where tenant = ${tenant} and seq >= next_seq
        `,
      );
      return found!.messages;
    };
    assert.deepEqual(await take('t'), []);
    assert.equal(await left(), 0);
    await port.publish({ ...draft, delayMs: 300 }, write(tenant, { now: Date.now() }));
    await publish('t', 'now');
    assert.deepEqual([(await take('t')).length, await left()], [1, 0]);
    assert.equal((await take('t', { waitMs: 60_000 })).length, 1, 'what was delayed');
  });
});
