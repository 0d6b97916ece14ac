import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from '../../settings.ts';
import { apiTest, assertError } from '../testing/api-test.ts';
import { SEAMS } from './seam.ts';
import { seamTest } from './testing/seam-test.ts';

const operations = Object.keys(SEAMS).map((seam) => {
  const [path, method = 'POST'] = seam.split(' ').reverse();
  return { method, path: `/v1/host/sample/${path}` };
});
const seams = operations.map(({ method, path }) => ({ method, url: path.replace('{runId}', 'run_none') }));

const call = (api: Pick<Awaited<ReturnType<typeof apiTest>>, 'get' | 'post'>, headers = {}) =>
  Promise.all(
    seams.map(({ method, url }) =>
      method === 'GET' ? api.get(url, headers) : api.post(url, { scenario: 'none' }, headers),
    ),
  );

test('a host that was not asked for seams has none', async (t) => {
  const api = await apiTest(t);
  assert.ok(seams.length > 10);
  for (const response of await call(api)) assertError(response, 404, 'not_found');
});

test('a seam wants a key, and the scope of what it does', async (t) => {
  const api = await seamTest(t);
  for (const response of await call(api, { authorization: '' })) {
    assertError(response, 401, 'unauthenticated');
  }
  const made = await api.post('/v1/host/gantry/keys', { name: 'weak', scopes: ['artifacts:read'] });
  for (const response of await call(api, { authorization: `Bearer ${made.json().key}` })) {
    assertError(response, 403, 'forbidden');
  }
  const probe = { url: '/v1/host/sample/subrun/attest', headers: { authorization: '' } };
  assert.equal((await api.request({ method: 'GET', ...probe })).statusCode, 405);
});

test('seams that are served are documented', async (t) => {
  const { paths } = (await (await seamTest(t)).get('/v1/openapi.json')).json();
  for (const { method, path } of operations) assert.ok(paths[path]?.[method.toLowerCase()], path);
});

test('the setting is off, on or wrong', () => {
  assert.equal(readSettings([], {}).testSeams, false);
  assert.equal(readSettings([], { GANTRY_TEST_SEAMS: '0' }).testSeams, false);
  assert.equal(readSettings([], { GANTRY_TEST_SEAMS: '1' }).testSeams, true);
  assert.throws(() => readSettings([], { GANTRY_TEST_SEAMS: 'yes' }), SettingsError);
});
