/** Which statements nodes may send, and what becomes of their parameters. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../../protocol/src/testing/property-runs.ts';
import type { SqlDialect } from '../../ports/sql.ts';
import { SMUGGLED_MEMBERS, SMUGGLED_QUERIES, SMUGGLED_WRITES } from './injection-corpus.ts';
import { type SqlParams, statementOf } from './template.ts';

const DIALECTS: readonly SqlDialect[] = ['sqlite', 'postgres', 'mysql'];
const CODES = new Set([
  'sql_non_parametric',
  'sql_syntax_error',
  'datasource_access_denied',
  'validation_error',
]);

/** As many values as there are question marks: none of these is refused for a wrong number. */
const asked = (sql: string): { sql: string; params: SqlParams } => ({
  sql,
  params: Array.from(sql.matchAll(/\?/g), () => 'x'),
});

describe('what could be smuggled is refused', () => {
  test('a function that stands where a column does', () => {
    for (const sql of SMUGGLED_MEMBERS) {
      assert.throws(
        () => statementOf(asked(sql), 'query', 'postgres'),
        { code: 'datasource_access_denied' },
        sql,
      );
    }
    const columns = 'select t.lo_orderdate, c.sleep, t.pg_rating, u.uescapes from pg_catalog.pg_class c';
    for (const dialect of DIALECTS) statementOf(asked(columns), 'query', dialect);
    for (const table of ['pg_ratings', 'edit', 'spider_species'])
      for (const dialect of DIALECTS)
        statementOf(asked(`insert into ${table} (id) values (?)`), 'execute', dialect);
  });

  for (const dialect of DIALECTS)
    for (const [use, corpus] of [
      ['query', SMUGGLED_QUERIES],
      ['execute', SMUGGLED_WRITES],
    ] as const)
      test(`${use} on ${dialect}: ${corpus.length} statements`, () => {
        for (const sql of corpus) {
          const judged = () => statementOf(asked(sql), use, dialect);
          const isRefusal = (error: unknown) => error instanceof OpenwopError && CODES.has(error.code);
          assert.throws(judged, isRefusal, sql);
        }
      });
});

describe('what is no statement for nodes', () => {
  const judged = (sql: string, code: string) => {
    for (const dialect of DIALECTS)
      for (const use of ['query', 'execute'] as const)
        assert.throws(() => statementOf(asked(sql), use, dialect), { code }, `${use}: ${sql}`);
  };

  test('is denied when a database has such a verb', () => {
    for (const sql of ['attach database x as y', 'copy t to x', 'show tables', 'explain select a from t'])
      judged(sql, 'datasource_access_denied');
    for (const sql of ['pragma x', 'grant all to x', 'set x = y', 'begin', 'CALL f()', '(vacuum)', 'load x'])
      judged(sql, 'datasource_access_denied');
  });

  test('is a slip of the pen when none has', () => {
    for (const sql of [
      'selec a from t',
      'inser into t values (?)',
      'from t select a',
      '?',
      '"select" a',
      '* ',
    ])
      judged(sql, 'sql_syntax_error');
    const told = { message: /^No statement begins with SELEC\. It must be SELECT/ };
    assert.throws(() => statementOf(asked('selec a from t'), 'query', 'sqlite'), told);
  });
});

const QUERIES: readonly string[] = [
  'select * from users where id = ?',
  'SELECT u.name, count(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id GROUP BY u.name HAVING count(*) > ? ORDER BY 2 DESC LIMIT 10 OFFSET 20',
  'with recent as (select * from orders where at > ?) select * from recent where total between ? and ?',
  'select id from a union all select id from b order by id limit 5',
  '(select id from a where id = ?) union (select id from b)',
  'select case when total > ? then 1 else 0 end as large, round(total, 2), -1 as minus from orders',
  'select avg(total) over (order by at rows between 6 preceding and current row) from orders',
  'select * from users where deleted_at is null and name is not null and (active = true or id in (?, ?))',
  'select cast(total as decimal(10, 2)) from orders where cast(total as decimal(10, 2)) = ?',
  'select coalesce(n, 0) + 1 from t where n > ?',
  'select * from users where id in (select user_id from orders where total > ? limit 3)',
  `select "from", "it's" from "order" where "id" = ?`,
  'select * from users where name like ? escape ?;',
];

const WRITES: readonly string[] = [
  'insert into users (id, name, note) values (?, ?, null)',
  'insert into users (id) values (?) on conflict (id) do update set name = ? where users.id > ?',
  'insert into totals select user_id, sum(total), 0 from orders group by 1',
  'update users set n = n + ?, name = case when name is null then ? else name end where id = ?',
  'delete from users where id = ? and name <> ?',
  'with gone as (delete from users where id = ? returning id) insert into old select id from gone',
  'insert into users (id) select id from old where id = ?',
  'with old as (select id from users where at < ?) delete from users where id in (select id from old)',
  "create table if not exists t (id integer primary key, state text not null default 'open' check (state in ('open', 'done')), n decimal(10, 2) default 0)",
  "alter table t add column note text default 'none'",
  'create unique index i on t (a, b) where deleted = 0',
  'create view v as select a, b from t where a is not null',
  'drop table if exists t',
  'drop index i',
];

describe('what authors write is taken', () => {
  for (const dialect of DIALECTS)
    test(`on ${dialect}`, () => {
      for (const sql of QUERIES) assert.doesNotThrow(() => statementOf(asked(sql), 'query', dialect), sql);
      for (const sql of WRITES) assert.doesNotThrow(() => statementOf(asked(sql), 'execute', dialect), sql);
    });

  test('VALUES as a table, except on MySQL, where MariaDB loses its parameters', () => {
    const tables = [
      'values (?, ?), (?, ?)',
      '(values (?))',
      'with a as (select id from t) values (?)',
      'select a from (values (?)) v(a)',
      'with v(a) as (values (?), (?)) select a from v',
      'select id from t union values (?)',
    ];
    const written = 'insert into t with v(a) as (values (?)) select a from v';
    const refused = { code: 'sql_syntax_error', message: /SELECT \? AS a/ };
    for (const sql of tables) {
      for (const dialect of ['sqlite', 'postgres'] as const) statementOf(asked(sql), 'query', dialect);
      assert.throws(() => statementOf(asked(sql), 'query', 'mysql'), refused, sql);
    }
    assert.throws(() => statementOf(asked(written), 'execute', 'mysql'), refused);
    const upsert =
      'insert into t (a, b) values (?, ?) on duplicate key update a = values(a), b = coalesce(values(t.b), ?)';
    assert.equal(statementOf(asked(upsert), 'execute', 'mysql').gaps.length, 3);
  });

  test('operators and casts of PostgreSQL', () => {
    const sql = `select a -> $1, b #>> $2, c::text, d[1] from t where tags @> $3 and e::numeric(10, 2) > $4 and f ~* $5`;
    const { pieces, gaps } = statementOf({ sql, params: ['a', 'b', 'c', 'd', 'e'] }, 'query', 'postgres');
    assert.deepEqual(gaps, [0, 1, 2, 3, 4]);
    assert.equal(pieces[2], ', c::text, d[1] from t where tags @> ');
  });
});

describe('parameters', () => {
  const refused = (sql: string, params: SqlParams, message: RegExp) =>
    assert.throws(() => statementOf({ sql, params }, 'query', 'sqlite'), {
      code: 'sql_non_parametric',
      message,
    });

  test('each has its value, and each value its parameter', () => {
    refused('select * from t where a = ?', [], /1 placeholder and `params` has 0 values/);
    refused('select * from t where a = ?', [1, 2], /1 placeholder and `params` has 2 values/);
    refused('select * from t where a = $2', [1], /`params` has 1/);
    refused('select * from t where a = $1 or b = $3', [1, 2, 3], /2 placeholders.*3 values.*leave none out/);
    refused('select * from t where a = $0', [1], /1 placeholder .*1 value.*numbers begin with 1/);
    refused('select * from t where a = :a', [1], /pass `params` as an object/);
    refused('select * from t where a = ?', { a: 1 }, /write the parameters as :name/);
    refused('select * from t where a = :a', {}, /lacks "a"/);
    refused('select * from t where a = :toString', {}, /lacks "toString"/);
    refused('select * from t where a = :a', { a: 1, b: 2 }, /has "b"/);
    refused('select * from t where a = ? and b = $1', [1], /more than one way/);
    refused(
      'select * from t',
      [1],
      /0 placeholders and `params` has 1 value\. Give one value for each placeholder\.$/,
    );
  });

  test('a list goes into a column as JSON text, and is no list of values', () => {
    const insert = { sql: 'insert into t (a, b) values (?, ?)', params: [['1', '2'], { c: 1 }] };
    assert.deepEqual(statementOf(insert, 'execute', 'sqlite').values, ['["1","2"]', '{"c":1}']);
    const equals = { sql: 'select * from t where a = ? and b in (select c from u)', params: [['1']] };
    assert.deepEqual(statementOf(equals, 'query', 'sqlite').values, ['["1"]']);
    const lists: [string, SqlParams][] = [
      ['select * from t where a in (?)', [['1', '2']]],
      ['select * from t where a NOT IN ( ? )', [[]]],
      ['select * from t where a in ($1, $2)', ['1', ['2']]],
      ['select * from t where b = :b and a in (:a)', { a: { $in: [1] }, b: 1 }],
    ];
    for (const [sql, params] of lists)
      assert.throws(
        () => statementOf({ sql, params }, 'query', 'postgres'),
        {
          code: 'validation_error',
          message: /inside `in \(\.\.\.\)` is (?:a list|an object).*a placeholder for each value/,
        },
        sql,
      );
    assert.deepEqual(
      statementOf({ sql: 'select * from t where a in (?)', params: [null] }, 'query', 'sqlite').values,
      [null],
    );
  });

  test('values that no database keeps are refused', () => {
    for (const value of ['a\0b', 'half \ud800', Number.NaN, [new Uint8Array(1)]])
      assert.throws(() => statementOf({ sql: 'select ? as a', params: [value] }, 'query', 'sqlite'), {
        code: 'validation_error',
      });
  });
});

test('whatever the value is, the statement stays the same', () => {
  const sql = 'select a from t where a = ? and b = ?';
  const expected = statementOf({ sql, params: [1, 2] }, 'query', 'mysql').pieces;
  const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));
  fc.assert(
    fc.property(text, text, (a, b) => {
      const { pieces, values } = statementOf({ sql, params: [a, b] }, 'query', 'mysql');
      assert.deepEqual([pieces, values], [expected, [a, b]]);
    }),
  );
});

test('text pasted into a statement never comes through as text', () => {
  const quote = fc.constantFrom("'", "''", '$$', "E'", '`', '"');
  fc.assert(
    fc.property(
      fc.constantFrom(...DIALECTS),
      quote,
      fc.string({ maxLength: 30 }),
      (dialect, mark, pasted) => {
        const sql = `select a from t where a = '${mark}${pasted}'`;
        const { kept } = keptText(sql, dialect);
        assert.equal(kept, false, sql);
      },
    ),
    { numRuns: propertyRuns(500) },
  );
});

/** Whether a statement was taken although a quoted text is in what the database would get. */
function keptText(sql: string, dialect: SqlDialect): { kept: boolean } {
  try {
    const { pieces } = statementOf({ sql, params: [] }, 'query', dialect);
    return { kept: pieces.join('').includes("'") };
  } catch (error) {
    assert.ok(error instanceof OpenwopError, String(error));
    return { kept: false };
  }
}

test('nothing makes the tokeniser hang or break', () => {
  const part = fc.constantFrom(
    'select',
    ' ',
    "'",
    '"',
    '`',
    '--',
    '/*',
    '*/',
    '$',
    '$$',
    '?',
    ':a',
    ';',
    '(',
    ')',
    '\\',
    '\n',
    '1',
    '@',
  );
  fc.assert(
    fc.property(fc.constantFrom(...DIALECTS), fc.array(part, { maxLength: 60 }), (dialect, parts) => {
      keptText(parts.join(''), dialect);
    }),
    { numRuns: propertyRuns(1_000) },
  );
  const startedAt = performance.now();
  const long = [
    '('.repeat(99_000),
    '--\n'.repeat(33_000),
    "''".repeat(49_000),
    '1'.repeat(99_000),
    '"'.repeat(99_000),
  ];
  for (const each of long) keptText(`select ${each}`, 'sqlite');
  assert.ok(performance.now() - startedAt < 20_000);
});

/** Milliseconds, of the fastest of a few: what the machine does beside is left out. */
const fastest = (work: () => void): number =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const startedAt = performance.now();
      work();
      return performance.now() - startedAt;
    }),
  );

test('many named parameters take as long as as many in order', () => {
  const names = Array.from({ length: 16_000 }, (_, index) => `p${index.toString(36)}`);
  const inOrder = { sql: `select ${names.map(() => '?').join()}`, params: names };
  const named = {
    sql: `select ${names.map((name) => `:${name}`).join()}`,
    params: Object.fromEntries(names.map((name) => [name, name])),
  };
  const parsed = (each: Parameters<typeof statementOf>[0]) => statementOf(each, 'query', 'sqlite');
  assert.deepEqual(parsed(named), parsed(inOrder));
  assert.ok(fastest(() => parsed(named)) < 100 + 20 * fastest(() => parsed(inOrder)));
});
