/** What nodes of packs give has to fit the schema that their pack declares. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { readSettings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.work';
const SCHEMA = {
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } } },
};
const packOf = (body: string, version: string) => ({
  version,
  nodes: { [TYPE]: { body, more: { outputSchemaRef: 'schemas/outputs.json' } } },
  files: { 'schemas/outputs.json': SCHEMA },
});

test('outputs that break the schema of the pack fail the node, with the path', async (t) => {
  const api = await packTest(t);
  const ran = async (body: string, version: string) => {
    await api.install(packOf(body, version));
    await api.registered(workflow('one', [node('a', TYPE)]));
    return api.ended(await api.start('one'));
  };
  const fits = await ran('return { items: [{ n: 1 }], more: true };', '1.0.0');
  assert.deepEqual(fits.outputs, { items: [{ n: 1 }], more: true });
  const wrong = await ran("return { items: [{ n: 1 }, { n: 'hush' }] };", '1.0.1');
  assert.equal(wrong.status, 'failed');
  const { code, message, details } = wrong.error as { code: string; message: string; details: object };
  assert.deepEqual([code, details], ['validation_error', { path: '/items/1/n' }]);
  assert.match(message, /\/items\/1\/n must be integer\. vendor\.acme\.tools@1\.0\.1 violates the schema/);
  assert.doesNotMatch(message, /hush/);
  const missing = await ran('return { itmes: [] };', '1.0.2');
  assert.match(
    String((missing.error as { message: string }).message),
    /: \/ must have required property 'items' \("itmes" is unknown: did you mean "items"\?\)/,
  );
});

test('a pack that the operator names only gets a warning in the log of the run', async (t) => {
  const { packOutputsWarned } = readSettings([], { GANTRY_PACK_OUTPUTS_WARN: 'vendor.acme.tools' });
  const api = await packTest(t, { settings: { packOutputsWarned } });
  await api.install(packOf('return { items: 5 };', '1.0.0'));
  await api.registered(workflow('one', [node('a', TYPE)]));
  const runId = await api.start('one');
  assert.deepEqual((await api.ended(runId)).outputs, { items: 5 });
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json() as { events: RunEventDoc[] };
  const warnings = events.filter(({ type }) => type === 'log.appended').map(({ payload }) => payload);
  assert.match(
    JSON.stringify(warnings),
    /"level":"warn","message":"The outputs of the node: \/items must be array/,
  );
  assert.throws(
    () => readSettings([], { GANTRY_PACK_OUTPUTS_WARN: 'tools' }),
    /"tools" is not the name of a pack/,
  );
});
