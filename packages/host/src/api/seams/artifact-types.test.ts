import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { onePerFile } from '../../testing/one-per-file.ts';
import { assertError, assertPublic } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

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
const opened = onePerFile(seamTest);

test('an artifact of a registered type is checked before it is announced, and stored', async () => {
  const api = await opened();
  const produce = (payload: unknown, artifactTypeId = ID) =>
    api.drive('artifacttypes/produce', { artifactTypeId, payload });
  const before = await produce({ anything: 1 });
  assert.deepEqual(
    [before.registered, before.artifactCreated.registered, before.stored],
    [false, false, true],
  );
  const installed = await api.drive('artifacttypes/install', { manifest, schemas: { [ID]: schema } });
  assert.deepEqual(installed, { installed: true, artifactTypeIds: [ID] });

  const good = await produce({ title: 'Hello' });
  assert.deepEqual([good.registered, good.validated, good.stored, good.rendered], [true, true, true, false]);
  assert.equal(good.runStatus, 'completed');
  assert.deepEqual(good.artifactCreated, {
    artifactId: good.artifactId,
    artifactType: ID,
    nodeId: 'artifact',
    version: '1',
    summary: 'Hello',
    registered: true,
    registrationSource: 'pack',
  });
  const read = await api.get(`/v1/runs/${good.runId}/artifacts/${good.artifactId}`);
  assert.deepEqual(read.json().content, { title: 'Hello' });
  const bad = await produce({ title: 'Hello', extra: true });
  assert.deepEqual(
    [bad.registered, bad.validated, bad.stored, bad.runStatus],
    [true, false, false, 'failed'],
  );
  assert.equal(bad.artifactCreated, undefined);
  assert.match(bad.problem.message, /has no member "extra"/);
  assert.equal((await api.get(`/v1/runs/${bad.runId}/artifacts/${bad.artifactId}`)).statusCode, 404);
  const unknown = await produce(['anything'], 'prd');
  assert.deepEqual([unknown.registered, unknown.validated, unknown.stored], [false, false, true]);
  assert.equal(unknown.artifactCreated.registrationSource, undefined);
  assertPublic('run-event-payloads.schema.json#/$defs/artifactCreated', good.artifactCreated);
});

test('a run produces an artifact of the type that discovery names, or of the type of the suite', async () => {
  const api = await opened();
  const { artifactTypes } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual([artifactTypes.store, artifactTypes.render], [true, false]);
  assert.deepEqual(artifactTypes.types[ID], {
    validated: true,
    validation: 'open',
    schemaVersion: 0,
    registrationSource: 'pack',
    store: true,
    render: false,
    export: ['json', 'md', 'html'],
  });
  for (const artifactTypeId of [ID, 'vendor.conformance.note']) {
    const { runId } = await api.drive('artifacttypes/runproduce', { artifactTypeId });
    const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=5`)).json();
    const told = events.find(({ type }: JsonObject) => type === 'artifact.created');
    assert.deepEqual(
      [told.payload.artifactType, told.payload.registered, told.payload.registrationSource],
      [artifactTypeId, true, 'pack'],
    );
  }
  const unknown = await api.post('/v1/host/sample/artifacttypes/runproduce', { artifactTypeId: 'prd' });
  assertError(unknown, 400, 'validation_error');
});

test('other content of the same version replaces it, and what is no such pack is refused', async () => {
  const api = await opened();
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
