import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerSecret } from '@gantry/http';
import type { Json } from '@gantry/protocol';
import { onePerFile } from '../testing/one-per-file.ts';
import { type ApiTest, apiTest, assertError } from './testing/api-test.ts';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const KEYS = '/v1/host/gantry/keys';

async function newKey(api: ApiTest, body: Record<string, Json>, as?: string) {
  const response = await api.post(KEYS, { name: 'test', ...body }, as === undefined ? {} : bearer(as));
  assert.equal(response.statusCode, 201, response.body);
  return response.json() as { key: string; keyId: string; tenant: string };
}

const revoke = (api: ApiTest, keyId: string, headers: Record<string, string> = {}) =>
  api.request({ method: 'DELETE', url: `${KEYS}/${keyId}`, headers });

const openApi = onePerFile(apiTest);

test('only a bearer header with one token has a secret', () => {
  assert.equal(bearerSecret('Bearer abc'), 'abc');
  assert.equal(bearerSecret('bearer  abc== '), 'abc==');
  for (const bad of [undefined, '', 'abc', 'Bearer', 'Bearer ', 'Bearer a b', 'Basic abc']) {
    assert.equal(bearerSecret(bad), null, String(bad));
  }
});

test('without a valid key nothing is told, not even whether it exists', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  for (const authorization of ['', 'Bearer', 'Bearer unknown', 'Basic abc']) {
    assertError(await api.get(`/v1/runs/${runId}`, { authorization }), 401, 'unauthenticated');
    assertError(await api.get('/v1/runs/absent', { authorization }), 401, 'unauthenticated');
    assertError(await api.post('/v1/runs', { nonsense: true }, { authorization }), 401, 'unauthenticated');
  }
});

test('each scope opens its own routes and no others', async () => {
  const api = await openApi();
  const { key } = await newKey(api, { scopes: ['runs:read'] });
  const runId = await api.start('three');
  assert.equal((await api.get(`/v1/runs/${runId}`, bearer(key))).statusCode, 200);
  const refused = await api.post('/v1/runs', { workflowId: 'three' }, bearer(key));
  assertError(refused, 403, 'forbidden', { scopeRequired: 'runs:create' });
  assertError(await api.get(KEYS, bearer(key)), 403, 'forbidden', { scopeRequired: 'keys:manage' });
});

test('tenants never see each other', async () => {
  const api = await openApi();
  const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'manifest:read'];
  const { key, tenant } = await newKey(api, { scopes, tenant: 'acme' });
  assert.equal(tenant, 'acme');
  const runId = await api.start('slow');
  const as = bearer(key);
  assertError(await api.get(`/v1/runs/${runId}`, as), 404, 'not_found');
  assertError(await api.get(`/v1/runs/${runId}/events`, as), 404, 'not_found');
  assertError(await api.get(`/v1/runs/${runId}/events/poll`, as), 404, 'not_found');
  assertError(await api.get(`/v1/runs/${runId}/debug-bundle`, as), 404, 'not_found');
  assertError(await api.post(`/v1/runs/${runId}/cancel`, {}, as), 404, 'not_found');
  assertError(await api.post('/v1/runs', { workflowId: 'slow' }, as), 404, 'not_found');
  const bulk = await api.post('/v1/runs:bulk-cancel', { runIds: [runId] }, as);
  assert.equal(bulk.json().results[0].error.code, 'not_found');
  assert.deepEqual((await api.get('/v1/host/gantry/runs', as)).json().runs, []);
  const named = await api.post('/v1/runs', { workflowId: 'slow', tenantId: 'default' }, as);
  assertError(named, 403, 'run_forbidden');
});

test('a key is shown once and kept as a hash', async () => {
  const api = await openApi();
  const { key, keyId } = await newKey(api, { scopes: ['runs:read'] });
  assert.match(key, /^gk_[\w-]{43}$/);
  const list = await api.get(KEYS);
  assert.ok(!list.body.includes(key));
  assert.ok(list.json().keys.some((listed: { keyId: string }) => listed.keyId === keyId));
});

test('a repeated request makes no second key and finds no secret', async () => {
  const api = await openApi();
  const again = () =>
    api.post(KEYS, { name: 'once', scopes: ['runs:read'] }, { 'idempotency-key': 'make-one' });
  const first = await again();
  assert.equal(first.statusCode, 201);
  const second = await again();
  assertError(second, 409, 'conflict');
  assert.equal(second.headers['openwop-idempotent-replay'], 'true');
  const named = (await api.get(KEYS)).json().keys.filter((key: { name: string }) => key.name === 'once');
  assert.equal(named.length, 1);
});

test('a rotated key works through its grace time and not a moment longer', async (t) => {
  let at = Date.parse('2030-01-01T00:00:00Z');
  const api = await apiTest(t, { now: () => at });
  const old = await newKey(api, { scopes: ['runs:read'] });
  const rotated = await api.post(`${KEYS}/${old.keyId}/rotate`, { graceSeconds: 60 });
  assert.equal(rotated.statusCode, 201, rotated.body);
  const list = (key: string) => api.get('/v1/host/gantry/runs', bearer(key));
  assert.equal((await list(old.key)).statusCode, 200);
  assert.equal((await list(rotated.json().key)).statusCode, 200);
  at += 60_000;
  assertError(await list(old.key), 401, 'key_expired');
  assert.equal((await list(rotated.json().key)).statusCode, 200);
  assertError(await api.post(`${KEYS}/${old.keyId}/rotate`, {}), 409, 'conflict');
});

test('a revoked key stops at once', async () => {
  const api = await openApi();
  const { key, keyId } = await newKey(api, { scopes: ['runs:read'] });
  assert.equal((await api.get('/v1/host/gantry/runs', bearer(key))).statusCode, 200);
  assert.equal((await revoke(api, keyId)).statusCode, 200);
  assertError(await api.get('/v1/host/gantry/runs', bearer(key)), 401, 'key_revoked');
  assert.equal((await revoke(api, keyId)).statusCode, 200, 'twice is the same');
  assertError(await revoke(api, 'key_absent'), 404, 'not_found');
});

test('nobody gets more power through keys than they have', async () => {
  const api = await openApi();
  const manager = await newKey(api, { scopes: ['keys:manage', 'runs:read'], tenant: 'acme' });
  const as = bearer(manager.key);
  const stronger = await api.post(KEYS, { name: 'x', scopes: ['runs:create'] }, as);
  assertError(stronger, 403, 'forbidden', { scopeRequired: 'runs:create' });
  const elsewhere = await api.post(KEYS, { name: 'x', scopes: ['runs:read'], tenant: 'default' }, as);
  assertError(elsewhere, 403, 'forbidden', { scopeRequired: 'host:admin' });
  assertError(await api.post(KEYS, { name: 'x', scopes: ['host:admin'] }), 400, 'validation_error');
  const admin = await newKey(api, { scopes: ['keys:manage', 'runs:create'], tenant: 'acme' });
  assertError(await api.post(`${KEYS}/${admin.keyId}/rotate`, {}, as), 403, 'forbidden');
  assertError(await revoke(api, admin.keyId, as), 403, 'forbidden');
  assertError(await api.get(`${KEYS}?tenant=default`, as), 403, 'forbidden');
  assert.equal((await newKey(api, { scopes: ['runs:read'] }, manager.key)).tenant, 'acme');
});

test('test keys live in a world of their own', async () => {
  const api = await openApi();
  const scopes = ['runs:create', 'runs:read', 'workflows:write', 'keys:manage'];
  const { key } = await newKey(api, { scopes, test: true });
  assert.match(key, /^gk_test_/);
  const live = await api.start('three');
  assertError(await api.get(`/v1/runs/${live}`, bearer(key)), 404, 'not_found');
  const outside = await api.post(KEYS, { name: 'x', scopes: ['runs:read'], test: false }, bearer(key));
  assertError(outside, 403, 'forbidden');
});

test('a list of scopes without end is refused at once', async () => {
  const api = await openApi();
  for (const scope of [1, 'runs:read']) {
    // Each is compared with all others, unless their number is looked at first
    const scopes = new Array<Json>(50_000).fill(scope);
    assertError(await api.post(KEYS, { name: 'test', scopes }), 400, 'validation_error');
  }
});
