import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Data } from '../../calls/data.ts';
import { statementOf } from './template.ts';

const sent = (sql: string, params: readonly Data[], dialect: 'postgres' | 'sqlite' = 'postgres'): string =>
  statementOf({ sql, params }, 'query', dialect).pieces.join('?');

test('a parameter that is a column gets the type of its value, on PostgreSQL', () => {
  assert.equal(sent('select ? as v', [1]), 'select ?::bigint as v');
  assert.equal(sent('select ? as v', [1.5]), 'select ?::float8 as v');
  assert.equal(sent('select ? as v', [2 ** 53]), 'select ?::float8 as v');
  assert.equal(sent('select ? as v', [true]), 'select ?::boolean as v');
  assert.equal(sent('select ? as v', [new Uint8Array()]), 'select ?::bytea as v');
  assert.equal(
    sent('select a, $2 as v, $1 as w from t', [1, 0.5]),
    'select a, ?::float8 as v, ?::bigint as w from t',
  );
  assert.equal(
    sent('with t as (select ? as a) select distinct ? as b from t', [1, 2]),
    'with t as (select ? as a) select distinct ?::bigint as b from t',
  );
  assert.equal(sent('select ? as v', [1], 'sqlite'), 'select ? as v');
});

test('every other statement stays as it is', () => {
  const others: readonly (readonly [string, ...Data[]])[] = [
    ['select ? as v', '1'],
    ['select ? as v', null],
    ['select ?', 1],
    ['select -? as v', 1],
    ['select array[?, ? , ?] as v', 1, 2, 3],
    ['select coalesce(a, ?) as v from t where a = ? order by a, ?', 1, 2, 3],
    ['select $1 as v from t where a = $1', 1],
    ['select ? as v union all select ? as v', 1, 2],
    ['select a from t except (select ? as v)', 1],
    ['select (select ? as v) as w from (select ? as x) as y', 1, 2],
    ['values (?, ?)', 1, 2],
    ['select a from t order by a, ?', 1],
  ];
  for (const [sql, ...params] of others) assert.equal(sent(sql, params), sql.replaceAll('$1', '?'));
});
