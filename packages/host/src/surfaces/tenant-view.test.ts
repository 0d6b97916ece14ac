/** What a tenant is told of the data sources of others: that there are some, and nothing else. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BackendHealth } from '@gantry/protocol';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { packTest } from '../packs/testing/pack-test.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const found = await freshDatabase();

test('warnings are for who runs the host', { skip: 'skip' in found && found.skip }, async (t) => {
  assert.ok(!('skip' in found));
  const folder = await temporaryFolder();
  const file = join(folder.path, 'datasources.json');
  const crm = { id: 'crm', driver: 'postgres', url: found.url, tenants: ['other'] };
  writeFileSync(file, JSON.stringify({ datasources: [crm] }));
  const api = await packTest(t, { settings: { backends: { datasources: file } } });
  t.after(async () => {
    await found.drop();
    await folder.remove();
  });
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'theirs',
    tenant: 'acme',
    scopes: ['audit:read'],
  });
  const seen = async (headers?: { authorization: string }) => {
    const { backends } = (await api.get('/v1/host/gantry/surfaces', headers)).json();
    return backends.find(({ backend }: BackendHealth) => backend === 'postgres');
  };
  const health = { capability: 'sql', backend: 'postgres', state: 'up' };
  const { warning, ...rest } = await seen();
  assert.deepEqual(rest, { ...health, datasource: 'crm' });
  assert.match(warning, /^GANTRY_DATASOURCES: Data source "crm": its user is a superuser/);
  assert.deepEqual(await seen({ authorization: `Bearer ${made.json().key}` }), health);
});
