import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveOf } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { declaredArchive } from '../../packs/connections/testing/declared-archive.ts';
import { PACKS_URL } from '../../packs/testing/pack-test.ts';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const group = (key: string) => ({ key, label: key, scopes: [`scope:${key}`] });
const provider = (more: JsonObject = {}): JsonObject => ({
  id: 'acme',
  displayName: 'Acme',
  category: 'crm',
  apiHosts: ['acme.example'],
  auth: {
    kind: 'oauth2',
    scopeModel: 'groups',
    endpoints: { authorize: 'https://acme.example/authorize', token: 'https://acme.example/token' },
    scopes: { read: [group('look')], write: [group('act')] },
  },
  reach: { mcp: { server: { url: 'https://acme.example/mcp', transport: 'http' } } },
  ...more,
});
const pack = (more: JsonObject = {}, about: JsonObject = {}): JsonObject => ({
  name: 'vendor.acme.connection',
  version: '1.0.0',
  kind: 'connection',
  engines: { openwop: '>=1.0.0 <2.0.0' },
  provider: provider(more),
  ...about,
});

async function connectionTest(t: Parameters<typeof seamTest>[0]) {
  const api = await seamTest(t);
  const seam = (name: string) => (body: JsonObject) => api.drive(`connection-packs/${name}`, body);
  return {
    ...api,
    resolve: seam('resolve'),
    consentPlan: seam('consent-plan'),
    egressCheck: seam('egress-check'),
    install: (manifest: JsonObject) => api.drive('connection-packs/install', { manifest }),
  };
}

test('a provider resolves by its id once a pack brings it', async (t) => {
  const api = await connectionTest(t);
  const unresolved = { resolved: false, code: 'connection_provider_unresolved' };
  assert.deepEqual(await api.resolve({ provider: 'acme' }), unresolved);
  assert.deepEqual(await api.install(pack()), { installed: true, errors: [] });
  const resolved = { resolved: true, source: 'pack', version: '1.0.0' };
  assert.deepEqual(await api.resolve({ provider: 'acme' }), resolved);
  await api.install(pack({ id: 'probe' }, { version: '1.0.0-alpha.1' }));
  const probe = { provider: 'probe', simulateBuiltinVersion: '1.0.0' };
  assert.deepEqual(await api.resolve(probe), { resolved: false, code: 'connection_provider_conflict' });
  assert.deepEqual(await api.resolve({ provider: 'acme' }), resolved, 'another version changes nothing');
  await api.request({ method: 'DELETE', url: `${PACKS_URL}/vendor.acme.connection` });
  assert.deepEqual(await api.resolve({ provider: 'acme' }), unresolved);
});

test('an unsigned pack of the scope core is installed here, and refused where people upload it', async (t) => {
  const api = await connectionTest(t);
  const manifest = pack({ id: 'acme-core' }, { name: 'core.openwop.connection-acme' });
  assert.deepEqual(await api.install(manifest), { installed: true, errors: [] });
  assert.equal((await api.resolve({ provider: 'acme-core' })).source, 'pack');
  const { bytes } = await archiveOf(
    new Map([['pack.json', Buffer.from(JSON.stringify({ ...manifest, version: '1.0.1' }))]]),
  );
  const headers = { 'content-type': 'application/gzip' };
  const uploaded = await api.request({ method: 'POST', url: PACKS_URL, payload: bytes, headers });
  assertError(uploaded, 403, 'pack_namespace_unauthorized');
});

test('a pack with a field for a secret is refused for it, whatever else is wrong, and spoils nothing', async (t) => {
  const api = await connectionTest(t);
  const leaky = pack({ auth: { kind: 'oauth2', clientSecret: 'canary-secret', nonsense: 1 } });
  const refused = await api.install(leaky);
  assert.equal(refused.installed, false);
  assert.equal(refused.errors[0].code, 'connection_pack_credential_material');
  assert.equal(refused.errors[0].path, '/provider/auth/clientSecret');
  assert.ok(!JSON.stringify(refused).includes('canary-secret'));
  const hosts = await api.install(pack({ apiHosts: ['127.0.0.1'] }));
  assert.equal(hosts.errors[0].code, 'connection_pack_invalid_api_host');
  assert.equal((await api.install({ kind: 'node' })).errors[0].code, 'pack_kind_invalid');
  assert.equal((await api.install(pack())).installed, true);
});

test('consent to write is a step of its own, and credentials stay at home', async (t) => {
  const api = await connectionTest(t);
  const ask = { provider: 'acme', requested: ['read', 'write'] };
  const early = await api.post('/v1/host/sample/connection-packs/consent-plan', ask);
  assertError(early, 400, 'connection_provider_unresolved', { provider: 'acme' });
  await api.install(pack());
  const { steps } = await api.consentPlan(ask);
  assert.deepEqual(
    steps.map(({ includesWrite, groups }: { includesWrite: boolean; groups: JsonObject[] }) => [
      includesWrite,
      groups.map(({ key }) => key),
    ]),
    [
      [false, ['look']],
      [true, ['act']],
    ],
  );
  assert.equal((await api.consentPlan({ ...ask, requested: ['read'] })).steps.length, 1);
  const to = (requestHost: string, id = 'acme') => api.egressCheck({ provider: id, requestHost });
  assert.deepEqual(await to('eu.acme.example'), { allowed: true });
  assert.deepEqual(await to('notacme.example'), { allowed: false, code: 'egress_host_not_allowed' });
  const nobody = { allowed: false, code: 'connection_provider_unresolved' };
  assert.deepEqual(await to('acme.example', 'nobody'), nobody);
});

test('two packs for one provider are a conflict that names both; tenants do not meet', async (t) => {
  const api = await connectionTest(t);
  await api.install(pack());
  const rival = await declaredArchive({ kind: 'connection', provider: provider() });
  const headers = { 'content-type': 'application/gzip' };
  const uploaded = await api.request({ method: 'POST', url: PACKS_URL, payload: rival, headers });
  assert.equal(uploaded.statusCode, 201, uploaded.body);
  const conflict = { resolved: false, code: 'connection_provider_conflict' };
  assert.deepEqual(await api.resolve({ provider: 'acme' }), conflict);
  const ask = { provider: 'acme', requested: ['read'] };
  const refused = await api.post('/v1/host/sample/connection-packs/consent-plan', ask);
  assertError(refused, 409, 'connection_provider_conflict');
  assert.deepEqual(refused.json().details.packs.sort(), [
    'vendor.acme.connection@1.0.0',
    'vendor.acme.kit@1.0.0',
  ]);
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    tenant: 'globex',
    scopes: ['packs:read'],
  });
  const other = { authorization: `Bearer ${made.json().key}` };
  const url = '/v1/host/sample/connection-packs/resolve';
  const seen = (await api.post(url, { provider: 'acme' }, other)).json();
  assert.equal(seen.code, 'connection_provider_unresolved');
});
