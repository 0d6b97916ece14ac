import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveOf } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { node, workflow } from '../../testing/definitions.ts';
import { PACKS_URL, packTest } from '../testing/pack-test.ts';

const TYPE = 'vendor.acme.work';
const NOTE = 'vendor.acme.note';

const file = (value: object) => Buffer.from(JSON.stringify(value));

/** A pack that registers the type, with this schema for titles. */
const notes = async (title: JsonObject): Promise<Buffer> => {
  const manifest = {
    kind: 'artifact-type',
    name: 'vendor.acme.notes',
    version: '1.0.0',
    engines: { openwop: '>=1.1' },
    peerDependencies: { 'host.artifactTypes': 'supported' },
    artifactTypes: [{ artifactTypeId: NOTE, schemaRef: 'note.json' }],
  };
  const schema = { type: 'object', properties: { title } };
  const files = new Map([
    ['pack.json', file(manifest)],
    ['note.json', file(schema)],
  ]);
  return (await archiveOf(files)).bytes;
};

test('what a node of a pack declares is checked by the pack that was there when the run began', async (t) => {
  const api = await packTest(t);
  const body = "return { title: 'Hello' };";
  await api.install({
    nodes: { [TYPE]: { body, more: { artifact: { typeId: NOTE, syncOn: 'completion' } } } },
  });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const run = async () => {
    const runId = await api.start('one');
    const { status, error } = await api.ended(runId);
    const read = await api.get(`/v1/runs/${runId}/artifacts/a`);
    return {
      runId,
      status,
      code: (error as JsonObject | undefined)?.code,
      registered: read.json().registered,
    };
  };
  const unknown = await run();
  assert.deepEqual([unknown.status, unknown.registered], ['completed', false]);

  const install = async (title: JsonObject) =>
    assert.equal((await api.upload(await notes(title), '?development=true')).statusCode, 201);
  await install({ type: 'string' });
  const checked = await run();
  assert.deepEqual([checked.status, checked.registered], ['completed', true]);
  await install({ type: 'number' });
  assert.deepEqual((await run()).code, 'artifact_invalid');

  const gone = await api.request({ method: 'DELETE', url: `${PACKS_URL}/vendor.acme.notes` });
  assert.ok(gone.statusCode < 300, gone.body);
  const fork = await api.post(`/v1/runs/${checked.runId}:fork`, { mode: 'replay', fromSeq: 0 });
  const read = await api.get(`/v1/runs/${fork.json().runId}/artifacts/a`);
  assert.deepEqual(read.json().content, { title: 'Hello' });
});
