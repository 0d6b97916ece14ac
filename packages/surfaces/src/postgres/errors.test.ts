/** What is wrong in the address of a server is named, with the setting left to who knows it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { ServerError } from '../backend-errors.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { openPostgresDatabase } from './connection.ts';
import { explain, explainOpening } from './errors.ts';

async function refusalOf(t: TestContext, url: string): Promise<Error> {
  const database = openPostgresDatabase({ url });
  t.after(database.close);
  return database.health().then(
    () => assert.fail('it connected'),
    (error) => error,
  );
}

test('a server without TLS that is asked for it: TLS is named', async (t) => {
  const plain = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('N');
    });
  }).listen(0, '127.0.0.1');
  t.after(() => plain.close());
  await once(plain, 'listening');
  const address = plain.address();
  assert.ok(typeof address === 'object' && address);
  const { message } = await refusalOf(
    t,
    `postgres://gantry:hush@127.0.0.1:${address.port}/db?sslmode=require`,
  );
  assert.match(message, / has no TLS, which "sslmode" of the URL asks for\. Switch it on there/);
});

test('what a server reports later says whether to wait or to mend it, and what', () => {
  const told = (code: string, more: object = { name: 'PostgresError' }) =>
    explain(Object.assign(new Error('said'), { code, ...more }), 'db:5432');
  const cases = [
    ['53100', 'unreachable', /^PostgreSQL at db:5432 is not available \(53100: its disk is full\)/],
    ['57P01', 'unreachable', /\(57P01: it is shutting down\)/],
    ['08006', 'unreachable', /\(08006\)/],
    ['28P01', 'misconfigured', /rejected the user or the password\. Correct them/],
    ['42501', 'misconfigured', /Grant it CREATE on the database/],
  ] as const;
  for (const [code, trouble, message] of cases) {
    const error = told(code);
    assert.ok(error instanceof ServerError, code);
    assert.equal(error.trouble, trouble, code);
    assert.match(error.message, message);
  }
  const noConnect = told('42501', { name: 'PostgresError', severity: 'FATAL' });
  assert.match(String(noConnect), /does not let the user connect to the database\. Grant it CONNECT/);
  for (const code of ['ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT', 'ERR_STREAM_DESTROYED'])
    assert.equal((told(code, {}) as ServerError).trouble, 'unreachable', code);
  for (const code of ['CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'])
    assert.equal((told(code, {}) as ServerError).trouble, 'rejected', code);
  for (const code of ['UNDEFINED_VALUE', 'ERR_INVALID_ARG_TYPE'])
    assert.equal(told(code, {}) instanceof ServerError, false, `${code} is a bug`);
});

test('a connection that ends while it is made may be because only one side speaks TLS', () => {
  const reset = Object.assign(new Error('said'), { code: 'ECONNRESET' });
  assert.match(
    String(explainOpening(reset, 'db:5432')),
    /cannot be reached \(ECONNRESET, which may also be because only one side speaks TLS\)/,
  );
});

describe('a parameter of the URL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres | null = null;
  before(async () => {
    opened = await openTestPostgres();
  });
  after(() => opened?.close());

  const cases = {
    'foo=bar': /does not know the parameter "foo" of the URL\. Correct it in the setting\.$/,
    'statement_timeout=hush': /does not take the value of the parameter "statement_timeout" of the URL/,
  };
  for (const [parameter, why] of Object.entries(cases))
    test(`${parameter} is refused by its name`, async (t) => {
      assert.ok(opened);
      const url = new URL(opened.url);
      url.search = parameter;
      const error = await refusalOf(t, url.href);
      assert.ok(error instanceof ServerError && error.trouble === 'misconfigured');
      assert.match(error.message, why);
      assert.doesNotMatch(error.message, /hush/);
    });
});
