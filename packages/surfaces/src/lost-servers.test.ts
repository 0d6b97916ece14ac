/** What is told of a server that goes away while it is used: to pack code, to the operator, and in health. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OpenwopError } from '@gantry/protocol';
import type { BackendSettings } from './open-port.ts';
import { openWorld } from './testing/absent-server.ts';
import { freshFolder } from './testing/data-dir.ts';
import { openGate } from './testing/gate.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { openTestS3, useTestCredentials } from './testing/s3.ts';
import { type Call, nodeOf } from './testing/test-call-gate.ts';

const DOUBT = /Whether the last write was kept is not known/;

interface Lost {
  /** How the log names it. */
  readonly server: RegExp;
  readonly capability: string;
  /** A write that finds it lost may have happened. */
  readonly leavesDoubt: boolean;
  settings(address: string): BackendSettings;
  read(call: Call): Promise<unknown>;
  write(call: Call): Promise<unknown>;
}

async function told(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => assert.fail('the server is away'),
    (refusal: OpenwopError) => refusal,
  );
  const { code, message } = error as OpenwopError;
  assert.equal(code, 'storage_unavailable');
  assert.doesNotMatch(message, /127\.0\.0\.1|data source/, 'pack code is not told where a server stands');
  return message;
}

async function lose(t: TestContext, target: { host: string; port: number }, lost: Lost): Promise<void> {
  const gate = await openGate(target);
  const { world, problemsOf } = await openWorld(t, lost.settings(`127.0.0.1:${gate.port}`));
  t.after(gate.close);
  let nodes = 0;
  const node = () => nodeOf(world, { nodeId: `n${nodes++}` });
  await lost.write(node());
  await lost.read(node());
  await gate.shut();
  assert.doesNotMatch(await told(lost.read(node())), DOUBT);
  const reported = world.reports.at(-1);
  assert.equal(reported?.server, 'unreachable');
  assert.match(String(reported?.reason), lost.server);
  assert.doesNotMatch(String(reported?.reason), DOUBT);
  const [problem] = await problemsOf(lost.capability);
  assert.match(String(problem), /^GANTRY_\w+: /);
  assert.doesNotMatch(String(problem), DOUBT);
  assert.equal(DOUBT.test(await told(lost.write(node()))), lost.leavesDoubt);
}

const targetOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
const through = (url: string, address: string): string => {
  const changed = new URL(url);
  changed.host = address;
  return changed.href;
};

useTestCredentials();
test('S3', async (t) => {
  const { host, port, close } = await openTestS3('objects');
  t.after(close);
  await lose(
    t,
    { host, port },
    {
      server: /^S3 at http:\/\/127\.0\.0\.1:\d+\/objects is not available \(ECONNREFUSED\)/,
      capability: 'blobStorage',
      leavesDoubt: true,
      settings: (address) => ({ blobs: `s3://objects?endpoint=http://${address}` }),
      read: (call) => call('storage.blob.get', { key: 'k' }),
      write: (call) => call('storage.blob.put', { key: 'k', bytes: new Uint8Array(1) }),
    },
  );
});

test('PostgreSQL, for a surface and as a data source', { skip: postgresSkip }, async (t) => {
  const { url, close } = await openTestPostgres();
  t.after(close);
  const folder = freshFolder();
  t.after(folder.remove);
  await lose(t, targetOf(url), {
    server: /^PostgreSQL at 127\.0\.0\.1:\d+ is not available \([A-Z_]+\)/,
    capability: 'nosql',
    leavesDoubt: true,
    settings: (address) => ({ documents: through(url, address) }),
    read: (call) => call('db.nosql.get', { collection: 'c', id: 'd' }),
    write: (call) => call('db.nosql.insert', { collection: 'c', doc: {} }),
  });
  await lose(t, targetOf(url), {
    server: /^PostgreSQL at data source "crm" is not available \([A-Z_]+\)/,
    capability: 'sql',
    leavesDoubt: false,
    settings(address) {
      const datasources = join(folder.path, 'datasources.json');
      const crm = { id: 'crm', driver: 'postgres', url: through(url, address), tenants: '*' };
      writeFileSync(datasources, JSON.stringify({ datasources: [crm] }));
      return { datasources };
    },
    read: (call) => call('db.sql.query', { datasourceId: 'crm', sql: 'select 1 as n', params: [] }),
    write: (call) =>
      call('db.sql.execute', {
        datasourceId: 'crm',
        sql: 'create table if not exists t (n int)',
        params: [],
      }),
  });
});
