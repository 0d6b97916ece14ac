/** What a page of keys costs: its own keys, whatever lies before and behind it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { boundsOf, LOOKED_AT_MAX } from '../capabilities/kv/key-range.ts';
import { NOW, read } from '../testing/calls.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { listText, postgresKv } from './kv.ts';

const EXPIRED = 2 * LOOKED_AT_MAX + 1;

/** Of the node that reads the table. */
interface Node {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

const leafOf = (node: Node): Node => (node.Plans?.[0] ? leafOf(node.Plans[0]) : node);

describe('PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres;
  before(async () => {
    opened = await openTestPostgres();
    await opened.database.upkeep(async (tx) => {
      await tx`
        insert into kv select 't', 'n', 'a' || lpad(n::text, 6, '0'), '1', 300, ${NOW}
        from generate_series(0, ${EXPIRED - 1}) as n
      `;
      await tx`
        insert into kv select 't', 'n', 'b' || lpad(n::text, 6, '0'), '1', 300, null from generate_series(1, 9999) as n
      `;
      await tx`analyze kv`;
    });
  });
  after(() => opened.close());

  const lookedAt = (page: { prefix: string; after: string | null }, most: number): Promise<number> =>
    opened.database.read(async (sql) => {
      const bounds = boundsOf(page);
      const ends = bounds.end === null ? [] : [bounds.end];
      const params = ['t', 'n', bounds.from, most, NOW, 100, ...ends];
      const text = `explain (analyze, format json) ${listText(bounds)}`;
      const [row] = await sql.unsafe<{ 'QUERY PLAN': readonly { Plan: Node }[] }[]>(text, params);
      const leaf = leafOf(row!['QUERY PLAN'][0]!.Plan);
      assert.match(leaf['Node Type'], /^Index/);
      return leaf['Actual Rows'] + (leaf['Rows Removed by Filter'] ?? 0);
    });

  test('it reads as far as the page goes, or as far as it may look', async () => {
    assert.ok((await lookedAt({ prefix: 'b', after: null }, 200)) <= 101);
    assert.ok((await lookedAt({ prefix: '', after: 'b009000' }, 200)) <= 101);
    assert.equal(await lookedAt({ prefix: 'b00000', after: null }, 200), 9);
    assert.equal(await lookedAt({ prefix: '', after: null }, 200), 200);
  });

  test('a page is whole, however many expired keys lie before it', async () => {
    const port = postgresKv(opened.database, { quotaBytes: 1e9 });
    const page = { namespace: 'n', prefix: '', after: null, limit: 2 };
    assert.deepEqual(await port.list(page, read('t')), ['b000001', 'b000002']);
    assert.deepEqual(await port.list(page, read('t', NOW - 1)), ['a000000', 'a000001']);
    assert.deepEqual(await port.list({ ...page, prefix: 'a' }, read('t')), []);
    const last = { ...page, after: 'b009998' };
    assert.deepEqual(await port.list(last, read('t')), ['b009999']);
  });
});
