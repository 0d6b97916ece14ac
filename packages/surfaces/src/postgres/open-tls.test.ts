/** Backends and data sources whose server speaks TLS, goes away and comes back. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startTlsServer } from '../../../store/src/testing/postgres-tls.ts';
import { ServerError } from '../backend-errors.ts';
import { SQL_LIMITS as limits } from '../ports/sql.ts';
import { postgresBackend } from '../sql-drivers/postgres.ts';
import { openGate } from '../testing/gate.ts';
import { talk } from '../testing/sql-talk.ts';
import { openPostgresDatabase } from './connection.ts';

const server = await startTlsServer();
const skip = 'skip' in server ? server.skip : false;

async function gated(t: TestContext) {
  assert.ok('url' in server);
  const url = new URL(server.url);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  t.after(() => gate.close());
  const at = (search: string) => Object.assign(new URL(url), { port: String(gate.port), search }).href;
  return { gate, at };
}

const away = { code: 'storage_unavailable', trouble: 'unreachable' };

test('both are used again when the server is back', { skip }, async (t) => {
  const { gate, at } = await gated(t);
  const url = at('sslmode=require');
  const database = openPostgresDatabase({ url });
  const source = postgresBackend({ url, limits });
  t.after(() => Promise.all([database.close(), source.close()]));
  const uses = [() => database.health(), () => source.health(), () => talk(source).query('select 1 as one')];
  for (const use of uses) await use();
  await gate.shut();
  for (const use of uses) await assert.rejects(use, away);
  await gate.reopen();
  for (const use of uses) await use();
});

test('a certificate that is not trusted, and TLS that is missing in the URL, are refused in words', {
  skip,
}, async (t) => {
  const { at } = await gated(t);
  const cases = {
    'sslmode=verify-full': /\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\. .*NODE_EXTRA_CA_CERTS/,
    '': /that are not encrypted\. Add \?sslmode=verify-full \(or require\) to the URL in the (?:setting|file of data)/,
  };
  for (const [search, why] of Object.entries(cases)) {
    const database = openPostgresDatabase({ url: at(search) });
    const source = postgresBackend({ url: at(search), limits });
    t.after(() => Promise.all([database.close(), source.close()]));
    for (const asked of [database.health, source.health])
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof ServerError && error.trouble !== 'unreachable', String(error));
        assert.match(error.message, why);
        return true;
      });
  }
});
