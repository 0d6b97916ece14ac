import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SqlitePool } from '../../sql-drivers/sqlite.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openDatasources } from './datasources.ts';

const SECRET = 'pass-word-of-the-test';
const server = { driver: 'postgres', url: `postgres://ada:${SECRET}@127.0.0.1:1/x` };

function opening(t: TestContext) {
  const folder = freshFolder();
  const pool = new SqlitePool();
  t.after(() => Promise.all([pool.close(), folder.remove()]));
  const file = join(folder.path, 'datasources.json');
  const deps = { pool, dataDir: folder.path, invocationRetentionMs: 1_000 };
  return {
    text: (text: string) => {
      writeFileSync(file, text);
      return openDatasources(file, deps);
    },
    list: (...datasources: object[]) => {
      writeFileSync(file, JSON.stringify({ datasources }));
      return openDatasources(file, deps);
    },
    missing: () => openDatasources(join(folder.path, 'none.json'), deps),
    none: () => openDatasources(undefined, deps),
  };
}

const WRONG: [object, RegExp][] = [
  [
    {},
    /\/0 lacks "id" \(a name .*\), "tenants" \("\*" for .*\), "driver" \("sqlite", "postgres" or "mysql"\)/,
  ],
  [{ ...server, id: 'a' }, /\/0 lacks "tenants" \("\*" for every tenant, or a list of tenants\)\.$/],
  [{ ...server, id: 'a', tenants: [] }, /\/0\/tenants must be "\*" for every tenant, or a list/],
  [{ ...server, id: 'a', tenants: 'all' }, /\/0\/tenants must be "\*" for every tenant, or a list/],
  [
    { ...server, id: 'a', tenants: '*', driver: 'oracle' },
    /\/0\/driver must be "sqlite", "postgres" or "mysql"/,
  ],
  [{ ...server, id: SECRET.repeat(4), tenants: '*' }, /\/0\/id must be a name of 1 to 64 characters/],
  [{ ...server, id: 'a', tenants: '*', file: 'x' }, /needs "url" and no "file"/],
  [{ ...server, id: 'a', tenants: '*', driver: 'sqlite' }, /needs "file" and no "url"/],
  [{ ...server, id: 'a', tenants: '*', driver: 'mysql' }, /mysql:\/\/ or mariadb:/],
  [{ ...server, id: 'a', tenants: '*', url: SECRET }, /password must be percent-encoded.* postgres:\/\//],
  [
    { ...server, id: 'a', tenants: '*', url: `postgres://ada:50%${SECRET}@db/x` },
    /\/0\/url is not a valid URL; .*password must be percent-encoded/,
  ],
  [
    { ...server, id: 'a', tenants: '*', url: `postgres://ada:1#${SECRET}@db/x` },
    /\/0\/url is not a valid URL; .*password must be percent-encoded/,
  ],
  [
    {
      driver: 'mysql',
      id: 'shop',
      tenants: '*',
      url: `mysql://ada:${SECRET}@10.0.0.7/x?ssl-mode=verify_identity`,
    },
    /^Data source "shop": With "ssl-mode=verify_identity" .* not an IP address/,
  ],
  [{ ...server, id: 'a', tenants: '*', maxRows: 0 }, /maxRows/],
  [{ ...server, id: 'a', tenants: '*', timeoutMs: 1e9 }, /timeoutMs/],
  [
    { ...server, id: 'a', tenants: '*', readonly: true },
    /readonly is not a setting; the settings are .*readOnly/,
  ],
];

test('a file that is not valid is refused with the location, and without what it holds', async (t) => {
  const open = opening(t);
  for (const [entry, problem] of WRONG)
    await assert.rejects(open.list(entry), ({ message }: Error) => {
      assert.match(message, problem);
      assert.doesNotMatch(message, new RegExp(SECRET));
      return true;
    });
  await assert.rejects(open.text(`{ "datasources": [ "${SECRET}`), ({ message }: Error) => {
    assert.match(message, /is not JSON/);
    return !message.includes(SECRET);
  });
  for (const text of [
    '[]',
    '{}',
    '{ "sources": [] }',
    '{ "datasources": {} }',
    '{ "datasources": [], "x": 1 }',
  ])
    await assert.rejects(open.text(text), /: it must be \{ "datasources": \[\.\.\.\] \}/, text);
  await assert.rejects(open.missing(), /cannot be read \(ENOENT\)/);
});

test('an id may stand for different data sources of different tenants, and for one of each', async (t) => {
  const open = opening(t);
  const [ours, theirs] = [
    { ...server, id: 'crm', tenants: ['acme'] },
    { ...server, id: 'crm', tenants: ['other'] },
  ];
  const datasources = await open.list(ours, theirs);
  t.after(datasources.close);
  const found = ['acme', 'other'].map((tenant) => datasources.find('crm', tenant).backend);
  assert.notEqual(found[0], found[1]);
  assert.throws(() => datasources.find('crm', 'third'), { code: 'datasource_access_denied' });
  await assert.rejects(open.list(ours, ours), /\/datasources\/1 has an id/);
  await assert.rejects(open.list(ours, { ...theirs, tenants: '*' }), /\/datasources\/1 has an id/);
});

test('a primary for some tenants is theirs; all others keep their own', async (t) => {
  const open = opening(t);
  const theirs = { ...server, id: 'primary', tenants: ['acme'] };
  const others = { ...theirs, tenants: ['other'], readOnly: true };
  const datasources = await open.list(theirs, others);
  t.after(datasources.close);
  const journals = ['acme', 'other', 'third', '*'].map(
    (tenant) => datasources.find('primary', tenant).backend.journal,
  );
  assert.deepEqual(journals, ['host', 'host', 'own', 'own']);
  assert.equal(datasources.find('primary', 'other').isReadOnly, true);
  assert.deepEqual(datasources.advertised, [{ id: 'primary', driver: 'sqlite' }]);
  assert.deepEqual(
    datasources.backends.map(({ kind }) => kind),
    ['embedded', 'postgres', 'postgres'],
  );
});

test('a configured primary for all takes the place of ours; health names what is away', async (t) => {
  const open = opening(t);
  const plain = await open.none();
  assert.equal(plain.find('primary', 'acme').backend.journal, 'own');
  assert.deepEqual(
    plain.backends.map(({ kind }) => kind),
    ['embedded'],
  );
  await plain.backends[0]?.health();
  const configured = await open.list({ ...server, id: 'primary', tenants: '*', timeoutMs: 100 });
  t.after(configured.close);
  assert.equal(configured.find('primary', 'acme').backend.journal, 'host');
  assert.deepEqual(configured.advertised, [{ id: 'primary', driver: 'postgres' }]);
  const [primary, ...others] = configured.backends;
  assert.deepEqual([primary?.kind, primary?.id, others], ['postgres', 'primary', []]);
  const away = { code: 'storage_unavailable', message: /^PostgreSQL is not available/ };
  await assert.rejects(primary!.health(), away);
});
