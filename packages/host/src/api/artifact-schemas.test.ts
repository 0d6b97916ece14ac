import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { declaredArchive } from '../packs/connections/testing/declared-archive.ts';
import { packTest } from '../packs/testing/pack-test.ts';
import { assertError } from './testing/api-test.ts';

const ID = 'vendor.acme.note';
const URL = `/schemas/artifacts/${ID}.schema.json`;
const SCHEMA = '{ "type":"object",\r\n\t"required": ["title"], "$comment": "ü — kept" }\n';

const archive = (schema: string, more: JsonObject = {}) =>
  declaredArchive(
    {
      kind: 'artifact-type',
      artifactTypes: [{ artifactTypeId: ID, schemaRef: './schemas/note.json' }],
      ...more,
    },
    { 'schemas/note.json': schema },
  );

test('the schema of a type is served byte for byte to those who may read artifacts', async (t) => {
  const api = await packTest(t);
  assertError(await api.get(URL), 404, 'not_found');
  assert.equal((await api.upload(await archive(SCHEMA))).statusCode, 201);
  const served = await api.get(URL);
  assert.deepEqual(served.rawPayload, Buffer.from(SCHEMA));
  assert.match(String(served.headers['content-type']), /^application\/schema\+json/);
  const again = await api.get(URL, { 'if-none-match': String(served.headers.etag) });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
  assertError(await api.get('/schemas/artifacts/vendor.acme.other.schema.json'), 404, 'not_found');
  assertError(await api.get(URL, { authorization: '' }), 401, 'unauthenticated');
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    tenant: 'globex',
    scopes: ['artifacts:read'],
  });
  assertError(await api.get(URL, { authorization: `Bearer ${made.json().key}` }), 404, 'not_found');
});

test('the last installed version of a type is the one in force', async (t) => {
  let now = Date.now();
  const api = await packTest(t, { now: () => now++ });
  assert.equal((await api.upload(await archive('true', { version: '2.0.0' }))).statusCode, 201);
  assert.equal((await api.upload(await archive(SCHEMA), '?older=true')).statusCode, 201);
  assert.equal((await api.get(URL)).body, SCHEMA);
});

test('a schema that could cost too much keeps its pack out', async (t) => {
  const api = await packTest(t);
  const deep = (depth: number): JsonObject => (depth === 0 ? {} : { items: deep(depth - 1) });
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `d${n}`,
      { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  );
  const costly = [
    JSON.stringify({ description: 'x'.repeat(70_000) }),
    JSON.stringify(deep(60)),
    JSON.stringify({ $defs: { ...doubling, d30: {} }, $ref: '#/$defs/d0' }),
    JSON.stringify({ $ref: 'https://elsewhere.example/schema.json' }),
    JSON.stringify({ type: 'nonsense' }),
    JSON.stringify({ pattern: '(a' }),
  ];
  for (const schema of costly) {
    const refused = await api.upload(await archive(schema));
    assertError(refused, 400, 'pack_validation_failed', { path: '/artifactTypes/0' });
  }
  const ids = ['a', 'b', 'c', 'd', 'e'].map((id) => `vendor.acme.${id}`);
  const many = await declaredArchive(
    {
      kind: 'artifact-type',
      artifactTypes: ids.map((id) => ({ artifactTypeId: id, schemaRef: `${id}.json` })),
    },
    Object.fromEntries(ids.map((id) => [`${id}.json`, JSON.stringify({ description: 'x'.repeat(60_000) })])),
  );
  assertError(await api.upload(many), 400, 'pack_validation_failed', { path: '/artifactTypes/4' });
  assertError(await api.upload(await archive('no json')), 400, 'schema_ref_missing');
});
