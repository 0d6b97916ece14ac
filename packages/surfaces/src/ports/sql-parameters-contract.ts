/** What every SQL backend must make of parameters, wherever they stand: I4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqlParams } from '../capabilities/sql/template.ts';
import { freshTable, type Sql } from '../testing/sql-talk.ts';

export function sqlParameters(sql: () => Sql): void {
  test('I4: a parameter that is a column by itself reads as it was given', async () => {
    const on = sql();
    for (const given of [
      1,
      0,
      -7,
      1.5,
      1e300,
      Number.MAX_SAFE_INTEGER,
      '1',
      '',
      null,
      new Uint8Array([0, 255]),
    ])
      assert.deepEqual(await on.query('select ? as v', [given]), [{ v: given }]);
    const table = freshTable();
    await on.execute(`create table ${table} (id integer, v text)`);
    await on.execute(`insert into ${table} values (?, ?), (?, ?)`, [1, '5', 2, '6']);
    assert.deepEqual(
      await on.query(
        `select distinct ? as n, v, ? as m from ${table} where v = ? order by v limit ?`,
        [7, 8.5, 5, 1],
      ),
      [{ n: 7, v: '5', m: 8.5 }],
    );
    assert.deepEqual(await on.query('select :a as a, :b as b', { a: 1, b: 'x' }), [{ a: 1, b: 'x' }]);
  });

  test('a number is compared with text and with numbers, wherever else it stands', async () => {
    const on = sql();
    const table = freshTable();
    await on.execute(`create table ${table} (id integer, v text)`);
    await on.execute(`insert into ${table} values (?, ?), (?, ?)`, [1, '5', 2, '6']);
    const first: [string, SqlParams][] = [
      ['v = ?', [5]],
      ['id = ?', ['1']],
      ['v in (?, ?)', [5, 'x']],
      ['v = (select ? as w)', [5]],
    ];
    for (const [where, params] of first)
      assert.deepEqual(await on.query(`select id from ${table} where ${where}`, params), [{ id: 1 }], where);
    const same = await on.query(`select id, $1 as w from ${table} where v = $1`, [5]);
    assert.deepEqual(
      same.map(({ id, w }) => [id, Number(w)]),
      [[1, 5]],
    );
    assert.equal((await on.query('select ? as w union all select ? as w', [1, 'x'])).length, 2);
    assert.equal((await on.query(`select v from ${table} union all select ? as v`, [5])).length, 3);
  });
}
