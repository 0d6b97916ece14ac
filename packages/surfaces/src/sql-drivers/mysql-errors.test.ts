import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { SQL_LIMITS } from '../ports/sql.ts';
import { explain } from './mysql-errors.ts';

/** As the driver reports them: `sql` is missing while it connects. */
const WRONG_PASSWORD = { errno: 1045, sqlState: '28000', code: 'ER_ACCESS_DENIED_ERROR', sql: undefined };
const NO_SUCH_DATABASE = { errno: 1049, sqlState: '42000', code: 'ER_BAD_DB_ERROR', sql: undefined };

function told(reported: object): OpenwopError {
  const error = explain(Object.assign(new Error("'nobody'@'10.0.0.1'"), reported), SQL_LIMITS);
  assert.ok(error instanceof OpenwopError);
  return error;
}

test('a server that refuses is told apart from one that is away, and says what to correct', () => {
  const cases = [
    [WRONG_PASSWORD, 'refuses the user or the password. Correct them in the file of data sources.'],
    [NO_SUCH_DATABASE, 'has no database of that name. Create it, or correct the file of data sources.'],
  ] as const;
  for (const [reported, why] of cases) {
    const { code, message } = told(reported);
    assert.deepEqual([code, message], ['storage_unavailable', `MySQL ${why}`]);
  }
  assert.match(told({ code: 'ECONNREFUSED' }).message, /cannot be used for now \(ECONNREFUSED\).*Try again/);
});

test('a statement that names what is not there, or not for it, is at fault itself', () => {
  const codeOf = (reported: object): string =>
    told({ ...reported, sql: 'create table other.t (n int)' }).code;
  assert.equal(codeOf(NO_SUCH_DATABASE), 'sql_syntax_error');
  assert.equal(codeOf(WRONG_PASSWORD), 'datasource_access_denied');
});
