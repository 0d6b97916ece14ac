import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { assertError, assertPublic } from '../testing.ts';
import { seamTest } from './testing.ts';

const ID = 'vendor.acme.note';
const manifest: JsonObject = {
  kind: 'artifact-type',
  name: 'vendor.acme.notes',
  version: '1.0.0',
  engines: { openwop: '>=1.1' },
  artifactTypes: [{ artifactTypeId: ID, schemaRef: 'schemas/note.json', rendering: { display: 'markdown' } }],
};
const schema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `https://host.example/schemas/artifacts/${ID}.schema.json`,
  type: 'object',
  additionalProperties: false,
  required: ['title'],
  properties: { title: { type: 'string' } },
};

test('an artifact of a registered type is checked before it is announced', async (t) => {
  const api = await seamTest(t);
  const produce = (payload: unknown, artifactTypeId = ID) =>
    api.drive('artifacttypes/produce', { artifactTypeId, payload });
  const before = await produce({ anything: 1 });
  assert.deepEqual([before.registered, before.artifactCreated.registered], [false, false]);
  const installed = await api.drive('artifacttypes/install', { manifest, schemas: { [ID]: schema } });
  assert.deepEqual(installed, { installed: true, artifactTypeIds: [ID] });

  const good = await produce({ title: 'Hello' });
  assert.deepEqual([good.registered, good.validated, good.stored, good.rendered], [true, true, false, false]);
  assert.deepEqual(good.artifactCreated, {
    artifactId: good.artifactId,
    artifactType: ID,
    registered: true,
    registrationSource: 'pack',
  });
  const bad = await produce({ title: 'Hello', extra: true });
  assert.deepEqual([bad.registered, bad.validated, bad.artifactCreated], [true, false, undefined]);
  assert.match(bad.problem.message, /additional/);
  const unknown = await produce(['anything'], 'prd');
  assert.deepEqual([unknown.registered, unknown.validated], [false, false]);
  assert.equal(unknown.artifactCreated.registrationSource, undefined);
  assertPublic('run-event-payloads.schema.json#/$defs/artifactCreated', good.artifactCreated);
});

test('other content of the same version replaces it, and what is no such pack is refused', async (t) => {
  const api = await seamTest(t);
  const install = (body: JsonObject) => api.post('/v1/host/sample/artifacttypes/install', body);
  const open = { ...schema, additionalProperties: true };
  const body = { artifactTypeId: ID, payload: { title: 'a', extra: 1 } };
  for (const one of [schema, open]) {
    assert.equal((await install({ manifest, schemas: { [ID]: one } })).statusCode, 200);
    assert.equal((await api.drive('artifacttypes/produce', body)).validated, one === open);
  }
  assertError(await install({ manifest, schemas: {} }), 400, 'schema_ref_missing');
  assertError(await install({ manifest: { kind: 'node' }, schemas: {} }), 400, 'pack_kind_invalid');
  const costly = { description: 'x'.repeat(70_000) };
  assertError(await install({ manifest, schemas: { [ID]: costly } }), 400, 'pack_validation_failed');
});
