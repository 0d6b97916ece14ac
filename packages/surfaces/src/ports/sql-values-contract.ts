/** What every SQL backend must make of values: I4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Data } from '../calls/data.ts';
import { freshTable, type Sql } from '../testing/sql-talk.ts';

/** Words of a dialect for the same things. */
export interface SqlWords {
  /** A primary key of 64 bits. */
  readonly bigKey: string;
  readonly bytes: string;
  readonly time: string;
  readonly zonedTime: string;
}

/** What was written, and what is read when that is something else. */
type Kept = readonly [written: Data, read?: Data];

const TEXTS = [
  '',
  "it's",
  '"',
  '\\',
  "\\'",
  '%_',
  '🙂 é\u0301',
  '\n\t',
  "'; drop table x; --",
  '?',
  '$1',
  ':a',
  '{"a":1}',
];
const BIG = ['9007199254740991', '9007199254740993', '-9223372036854775808', '9223372036854775807'];

export function sqlValues(sql: () => Sql, words: () => SqlWords): void {
  const keeps = async (type: string, kept: readonly Kept[]): Promise<void> => {
    const on = sql();
    const table = freshTable();
    await on.execute(`create table ${table} (id integer primary key, v ${type})`);
    for (const [index, [written]] of kept.entries())
      await on.execute(`insert into ${table} values (?, ?)`, [index, written]);
    const rows = await on.query(`select v from ${table} order by id`);
    assert.deepEqual(
      rows.map(({ v }) => v),
      kept.map(([written, back = written]) => back),
    );
  };

  test('I4: text, numbers, booleans and nothing', async () => {
    await keeps('text', [[null], ...TEXTS.map((text): Kept => [text])]);
    await keeps('integer', [[0], [-1], [2_147_483_647], [null]]);
    await keeps('bigint', [
      [Number.MAX_SAFE_INTEGER],
      [Number.MIN_SAFE_INTEGER],
      ...BIG.map((text): Kept => [text, Number.isSafeInteger(Number(text)) ? Number(text) : text]),
    ]);
    await keeps('double precision', [[0.1], [-1.5e300], [5e-324], [3], [null]]);
    await keeps('float', [[0.1], [0.5], [-3], [null]]);
    await keeps('real', [[0.1], [16_777_216], [null]]);
    await keeps('boolean', [[true], [false], [null]]);
  });

  test('I4: bytes, and objects as JSON text', async () => {
    const all = new Uint8Array(256).map((_, index) => index);
    await keeps(words().bytes, [[all], [new Uint8Array()], [null]]);
    await keeps('text', [
      [{ a: [1, null, 'é'] }, '{"a":[1,null,"é"]}'],
      [[true], '[true]'],
    ]);
  });

  test('I4: dates and times, and text that looks like one', async () => {
    const { time, zonedTime } = words();
    await keeps('date', [['2026-01-31'], [null]]);
    await keeps(time, [['2026-01-02T03:04:05.678'], ['2026-01-02T03:04:05.000']]);
    await keeps(zonedTime, [['2026-01-02T03:04:05.678Z'], ['2026-12-31T23:59:59.000Z'], [null]]);
    await keeps('text', [['2026-01-02T03:04:05.678Z']]);
    const on = sql();
    const table = freshTable();
    const moment = '2026-01-02T03:04:05.678Z';
    await on.execute(`create table ${table} (at ${zonedTime}, said text)`);
    await on.execute(`insert into ${table} values (?, ?)`, [moment, 'x']);
    assert.equal(await on.execute(`update ${table} set said = ? where at = ?`, ['y', moment]), 1);
    assert.deepEqual(await on.query(`select at, said from ${table} where at = ?`, [moment]), [
      { at: moment, said: 'y' },
    ]);
  });

  test('I4: counts and sums of whole numbers are whole numbers, and text only beyond 2^53', async () => {
    const on = sql();
    const table = freshTable();
    await on.execute(
      `create table ${table} (small integer, large bigint, exact decimal(20, 0), price decimal(10, 2))`,
    );
    const insert = `insert into ${table} values (?, ?, ?, ?)`;
    for (const n of [1, 2, 9]) await on.execute(insert, [n, n, n, n + 0.25]);
    const names = ['small', 'large', 'exact'];
    const each = names.map((name) => `sum(${name}) as ${name}`).join(', ');
    const [sums] = await on.query(`select count(*) as n, ${each}, min(exact) as one from ${table}`);
    assert.deepEqual(sums, { n: 3, small: 12, large: 12, exact: 12, one: 1 });
    const means = names.map((name) => `avg(${name}) as ${name}`).join(', ');
    const [mean] = await on.query(`select ${means} from ${table}`);
    assert.deepEqual(mean, { small: 4, large: 4, exact: 4 });
    const none = await on.query(`select count(*) as n, ${each} from ${table} where small > ?`, [9]);
    assert.deepEqual(none, [{ n: 0, small: null, large: null, exact: null }]);
    await on.execute(insert, [0, BIG[1]!, 0, 0]);
    assert.deepEqual(await on.query(`select sum(large) as large from ${table}`), [
      { large: '9007199254741005' },
    ]);
  });

  decimals(sql, keeps);

  test('I4: the largest ids are ids like others', async () => {
    const on = sql();
    const table = freshTable();
    await on.execute(`create table ${table} (id ${words().bigKey}, keyed integer)`);
    const ids = ['9007199254740993', '9223372036854775807'];
    for (const id of ids) assert.equal(await on.execute(`insert into ${table} values (?, ?)`, [id, 0]), 1);
    assert.equal(await on.execute(`update ${table} set keyed = ? where id = ?`, [1, ids[0]!]), 1);
    assert.equal(await on.execute(`create table ${table}_after (id integer)`), 0);
    const rows = await on.query(`select id, keyed from ${table} order by id`);
    assert.deepEqual(
      rows,
      ids.map((id, index) => ({ id, keyed: 1 - index })),
    );
  });

  test('I4: any text and any whole number come back as they went', async () => {
    const on = sql();
    const table = freshTable();
    await on.execute(`create table ${table} (t text, n bigint)`);
    const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((each) => !each.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, fc.maxSafeInteger(), async (t, n) => {
        await on.transaction([`delete from ${table}`, []], [`insert into ${table} values (?, ?)`, [t, n]]);
        assert.deepEqual(await on.query(`select t, n from ${table}`), [{ t, n }]);
        assert.equal((await on.query(`select n from ${table} where t = :t`, { t })).length, 1);
      }),
      { numRuns: 25 },
    );
  });
}

function decimals(sql: () => Sql, keeps: (type: string, kept: readonly Kept[]) => Promise<void>): void {
  test('I4: decimals are numbers, without the zeros behind', async () => {
    await keeps('decimal(10, 2)', [[1.25], [2.5], [3], [0], [-0.1], ['2.50', 2.5], [null]]);
    await keeps('decimal(20, 10)', [['0.0000001500', 1.5e-7], [12_345.678_9]]);
    const on = sql();
    const table = freshTable();
    await on.execute(`create table ${table} (id integer, price decimal(10, 2))`);
    await on.execute(`insert into ${table} values (?, ?), (?, ?)`, [1, 1.25, 2, 2.5]);
    const asked = `select avg(id) as mean, sum(price) as total, max(price) as most, avg(price) as mid from ${table}`;
    assert.deepEqual(await on.query(asked), [{ mean: 1.5, total: 3.75, most: 2.5, mid: 1.875 }]);
    const third = `select round(avg(id), 4) as third from (select id from ${table} union all select 1) as x`;
    assert.deepEqual(await on.query(third), [{ third: 1.3333 }]);
  });
}
