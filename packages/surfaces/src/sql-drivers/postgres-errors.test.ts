import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { SQL_LIMITS as limits } from '../ports/sql.ts';
import { talk } from '../testing/sql-talk.ts';
import { postgresBackend } from './postgres.ts';
import { explain } from './postgres-errors.ts';

const WRONG: readonly { readonly change: object; readonly why: RegExp }[] = [
  {
    change: { username: 'nobody-of-that-name', password: 'open-sesame' },
    why: /^PostgreSQL rejected the user or the password\. Correct them in the file of data sources\.$/,
  },
  { change: { pathname: '/none-of-that-name' }, why: /^PostgreSQL has no database of that name\. / },
  { change: { search: 'foo=bar' }, why: /^PostgreSQL does not know the parameter "foo" of the URL\. / },
];

const found = await freshDatabase();

test('a server that refuses is told apart from one that is away, and says what to correct', {
  skip: 'skip' in found && found.skip,
}, async (t) => {
  assert.ok(!('skip' in found));
  t.after(() => found.drop());
  for (const { change, why } of WRONG) {
    const { href } = Object.assign(new URL(found.url), change);
    const backend = postgresBackend({ url: href, limits });
    t.after(() => backend.close());
    const refusal = { code: 'storage_unavailable', message: why };
    await assert.rejects(backend.health(), refusal);
    await assert.rejects(talk(backend).query('select 1 as one'), refusal);
  }
});

test('a connection that broke is no word of the server, whatever its code looks like', () => {
  for (const code of ['EPIPE', 'ECONNRESET', 'CONNECTION_CLOSED']) {
    const error = explain(Object.assign(new Error(`write ${code}`), { code }), limits);
    assert.equal((error as { code: string }).code, 'storage_unavailable', code);
  }
});
