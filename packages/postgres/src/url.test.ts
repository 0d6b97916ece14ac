import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressOf, readServer } from './url.ts';

const place = (url: string) => readServer(url).place;

test('user, password and database are decoded, whatever is in them', () => {
  const text = fc.string({ minLength: 1, unit: fc.constantFrom(...'aZ9 #?/@%:,[]=&+\\é€😀') });
  fc.assert(
    fc.property(text, text, text, (user, pass, database) => {
      const [u, p, d] = [user, pass, database].map(encodeURIComponent);
      assert.deepEqual(readServer(`postgres://${u}:${p}@db/${d}`).login, { user, pass, database });
    }),
  );
  assert.equal(readServer('postgres://db/od%20d%2Fb').login.database, 'od d/b');
});

test('a host is a name, an address of either version, or the folder of a socket', () => {
  const tls = 'disable';
  assert.deepEqual(place('postgresql://u@db/x'), { kind: 'host', host: 'db', port: 5432, tls });
  assert.deepEqual(place('postgres://u@127.0.0.1:1/x'), { kind: 'host', host: '127.0.0.1', port: 1, tls });
  assert.deepEqual(place('postgres://u@[::1]:1/x'), { kind: 'host', host: '::1', port: 1, tls });
  assert.equal(addressOf(readServer('postgres://u:p@[::1]/x')), '[::1]:5432');
  const socket = { kind: 'socket', path: '/run/pg/.s.PGSQL.5433' };
  assert.deepEqual(place('postgres://u@db:5433/x?host=/run/pg'), socket);
  assert.deepEqual(place('postgres://u@%2Frun%2Fpg%2F:5433/x'), socket);
});

test('parameters are of the server, but for what says how to reach it', () => {
  const { parameters, place } = readServer('postgres://db/x?sslmode=verify-full&statement_timeout=5s');
  assert.deepEqual(parameters, { statement_timeout: '5s' });
  assert.deepEqual(place, { kind: 'host', host: 'db', port: 5432, tls: 'verify-full' });
});

const ENCODE = /^This is no URL of PostgreSQL.* must be percent-encoded, as %23 for #\.$/;
const BEFORE = /stand before the "\?" of the URL/;
const REFUSED: Readonly<Record<string, RegExp>> = {
  'postgres://u:hush@a,b/x': /^The URL names several hosts\. Name one/,
  'postgres://u:hush@a:5432,b:5432/x': /^The URL names several hosts/,
  'postgres://u:hu%zzsh@db/x': ENCODE,
  'postgres://u:hush@db/50%': ENCODE,
  'postgres://u:hush%00@db/x': ENCODE,
  'postgres://u:12#hush@db/x': ENCODE,
  'postgres://u:12/hush@db/x': ENCODE,
  'postgres://u:12?hush@db/x': ENCODE,
  'postgres://u:1@hush/2@db/x': ENCODE,
  'postgres://u:hush@db:port/x': ENCODE,
  'mysql://u:hush@db/x': ENCODE,
  hush: ENCODE,
  'postgres://u:hush@db/x?sslmode=prefer': /Say verify-full, or require/,
  'postgres://u:hush@db/x?sslmode=allow': /what may go unencrypted by itself is not served/,
  'postgres://u:hush@db/x?sslmode=hush': /"sslmode" of the URL is disable, require, verify-ca or verify-full/,
  'postgres://u:hush@db/x?ssl=true': /"sslmode" of the URL is/,
  'postgres://u:hush@db/x?sslrootcert=ca.pem': /NODE_EXTRA_CA_CERTS/,
  'postgres://u:hush@db/x?sslcert=me.pem': /Certificates of clients are not served/,
  'postgres://u@db/x?password=hush': BEFORE,
  'postgres://u:hush@db/x?host=other': /"host" of the URL is the folder of a socket/,
};

for (const [url, why] of Object.entries(REFUSED))
  test(`refused in words: ${url}`, () => {
    assert.throws(
      () => readServer(url),
      (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, why);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
  });

test('a password that was not encoded is in no message and no address', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'abz19#?/@%:,[] ='), maxLength: 12 });
  fc.assert(
    fc.property(secret, secret, (before, after) => {
      try {
        const server = readServer(`postgres://u:${before}Hush${after}@db/x`);
        assert.equal(addressOf(server), 'db:5432');
      } catch (error) {
        assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error));
        assert.doesNotMatch(error.message, /Hush/);
      }
    }),
    { numRuns: 1_000 },
  );
});
