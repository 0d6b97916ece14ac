import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { ServerError } from '../backend-errors.ts';
import { SQL_LIMITS } from '../ports/sql.ts';
import { explain, NotBegun } from './mysql-errors.ts';

const WRONG_PASSWORD = { errno: 1045, sqlState: '28000', code: 'ER_ACCESS_DENIED_ERROR' };
const NO_SUCH_DATABASE = { errno: 1049, sqlState: '42000', code: 'ER_BAD_DB_ERROR' };

const reported = (about: object, text = "'nobody'@'10.0.0.1'"): Error =>
  Object.assign(new Error(text), about);

function told(error: Error): OpenwopError {
  const explained = explain(error, SQL_LIMITS);
  assert.ok(explained instanceof OpenwopError);
  return explained;
}

/** Before the first statement. */
function toldOf(error: Error, asksForTls = true): ServerError {
  const explained = told(new NotBegun(error, { asksForTls }));
  assert.ok(explained instanceof ServerError);
  assert.equal(explained.code, 'storage_unavailable');
  assert.doesNotMatch(explained.message, /nobody|10\.0/);
  return explained;
}

test('a server that refuses is told apart from one that is away, and says what to correct', () => {
  const cases = [
    [WRONG_PASSWORD, 'rejected the user or the password. Correct them in the file of data sources.'],
    [NO_SUCH_DATABASE, 'has no database of that name. Create it, or correct the file of data sources.'],
  ] as const;
  for (const [about, why] of cases) {
    const { trouble, message } = toldOf(reported(about));
    assert.deepEqual([trouble, message], ['rejected', `MySQL ${why}`]);
  }
  const { trouble, message } = toldOf(reported({ code: 'ECONNREFUSED' }));
  assert.equal(trouble, 'unreachable');
  assert.match(message, /is not available \(ECONNREFUSED\).*Try again/);
});

test('whatever stops a session before its first statement stops no start, and is told without its text', () => {
  for (const errno of [1044, 1129, 1251, 1820, 1862, 3118, 3159, 4151, 9999])
    assert.equal(
      toldOf(reported({ errno, sqlState: '42000', code: 'ER_ANY' })).trouble,
      'rejected',
      `${errno}`,
    );
  for (const errno of [1040, 1203, 1226])
    assert.equal(
      toldOf(reported({ errno, sqlState: '42000', code: 'ER_ANY' })).trouble,
      'unreachable',
      `${errno}`,
    );
});

test('a login without TLS may be refused for the want of it', () => {
  assert.match(
    toldOf(reported(WRONG_PASSWORD), false).message,
    /or asks for TLS\..*\?ssl-mode=verify_identity/,
  );
  assert.match(
    toldOf(reported({ errno: 3159, sqlState: 'HY000' }), false).message,
    /asks for TLS\. Add \?ssl-mode/,
  );
});

test('a certificate that is refused says what to do, though the driver replaces the code', () => {
  const cases = [
    ['self-signed certificate in certificate chain', /NODE_EXTRA_CA_CERTS/],
    ['unable to verify the first certificate; try this', /NODE_EXTRA_CA_CERTS/],
    ['certificate has expired', /Give the server a new one/],
    ["Hostname/IP does not match certificate's altnames: Host: a. is not cert's CN: b", /another host name/],
    ['socket hang up', /TLS handshake failed \(HANDSHAKE_SSL_ERROR\)/],
  ] as const;
  for (const [text, why] of cases) {
    const { trouble, message } = toldOf(reported({ code: 'HANDSHAKE_SSL_ERROR' }, text));
    assert.equal(trouble, 'rejected');
    assert.match(message, why);
  }
  const { message } = toldOf(reported({ code: 'HANDSHAKE_NO_SSL_SUPPORT' }));
  assert.match(message, /does not speak TLS there/);
});

test('a statement that names what is not there, or not for it, is at fault itself', () => {
  assert.equal(told(reported(NO_SUCH_DATABASE)).code, 'sql_syntax_error');
  assert.equal(told(reported(WRONG_PASSWORD)).code, 'datasource_access_denied');
});
