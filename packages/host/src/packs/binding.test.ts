import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowPacks } from '@gantry/protocol';
import { assertError } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { PACK_NAME, packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.work';
const pack = (name: string, said: string, more: Partial<TestPack> = {}): TestPack => ({
  name,
  nodes: { [TYPE]: { body: `return { said: ${JSON.stringify(said)} };` } },
  ...more,
});
const one = (packs?: WorkflowPacks) => workflow('one', [node('a', TYPE)], packs ? { packs } : {});
const runs = async (api: PackTest): Promise<unknown> => (await api.ended(await api.start('one'))).outputs;

test('unknown types are refused when the workflow is registered', async (t) => {
  const api = await packTest(t);
  assertError(await api.register(one()), 422, 'capability_required', { offendingTypeId: TYPE });
  assertError(
    await api.register(one({ 'vendor.acme.none': { version: '1.0.0' } })),
    400,
    'pack_load_failure',
  );
});

test('two packs that offer one type are an error unless the workflow names one', async (t) => {
  const api = await packTest(t);
  await api.install(pack('vendor.acme.left', 'left'));
  await api.install(pack('vendor.acme.right', 'right'));
  const refused = await api.register(one());
  assertError(refused, 400, 'pack_load_failure', { typeId: TYPE });
  assert.match(
    refused.json().message,
    /vendor\.acme\.right@1\.0\.0 and vendor\.acme\.left@1\.0\.0|left.*right/,
  );
  await api.registered(one({ 'vendor.acme.left': {} }));
  assert.deepEqual(await runs(api), { said: 'left' });
});

test('a workflow may pin version and content', async (t) => {
  const api = await packTest(t);
  const { integrity } = await packArchive(pack(PACK_NAME, 'old'));
  await api.install(pack(PACK_NAME, 'old'));
  await api.install(pack(PACK_NAME, 'new', { version: '2.0.0' }));
  await api.registered(one());
  assert.deepEqual(await runs(api), { said: 'new' });
  await api.registered(one({ [PACK_NAME]: { version: '1.0.0', integrity } }));
  assert.deepEqual(await runs(api), { said: 'old' });
  const wrong = { [PACK_NAME]: { version: '2.0.0', integrity } };
  assertError(await api.register(one(wrong)), 400, 'pack_integrity_failure');
});

test('a range in the packs of a workflow takes the highest installed version that it permits', async (t) => {
  const api = await packTest(t);
  for (const version of ['1.0.0', '1.2.0', '2.0.0']) await api.install(pack(PACK_NAME, version, { version }));
  for (const [range, said] of [
    ['^1.0.0', '1.2.0'],
    ['1.0.x', '1.0.0'],
    ['*', '2.0.0'],
  ] as const) {
    await api.registered(one({ [PACK_NAME]: { version: range } }));
    assert.deepEqual(await runs(api), { said });
  }
  for (const range of ['^3.0.0', 'newest'])
    assertError(await api.register(one({ [PACK_NAME]: { version: range } })), 400, 'pack_load_failure', {
      pack: `${PACK_NAME}@${range}`,
    });
});

test('types of the host are never a pack own, and config is held to the pack schema', async (t) => {
  const api = await packTest(t);
  const schema = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } };
  await api.install({
    nodes: {
      'core.noop': { body: 'return { shadowed: true };' },
      [TYPE]: { body: 'return {};', more: { configSchemaRef: 'schemas/config.json' } },
    },
    files: { 'schemas/config.json': { $id: 'https://packs.example/config.json', ...schema } },
  });
  await api.registered(workflow('one', [node('a', 'core.noop')]));
  assert.deepEqual(await runs(api), {});
  const refused = await api.register(workflow('one', [node('a', TYPE, { url: 1 })]));
  assertError(refused, 400, 'validation_error');
  assert.equal(refused.json().details.issues[0].path, '/nodes/0/config/url');
});

test('a repeated removal gets the first answer, and removes nothing that came since', async (t) => {
  const api = await packTest(t);
  const remove = (key: string, query = '') =>
    api.request({
      method: 'DELETE',
      url: `${PACKS_URL}/${PACK_NAME}${query}`,
      headers: { 'idempotency-key': key },
    });
  await api.install(pack(PACK_NAME, 'first', { version: '1.0.0' }));
  assert.equal((await remove('once')).statusCode, 204);
  await api.install(pack(PACK_NAME, 'second', { version: '1.1.0' }));
  const again = await remove('once');
  assert.deepEqual([again.statusCode, again.body], [204, '']);
  assert.equal(again.headers['openwop-idempotent-replay'], 'true');
  assert.equal((await api.get(PACKS_URL)).json().packs.length, 1);
  assertError(await remove('other', '?version=1.0.0'), 404, 'not_found');
  assert.equal((await remove('third')).statusCode, 204);
});

test('a run goes on with the version it started with, whatever is installed or removed meanwhile', async (t) => {
  const api = await packTest(t);
  const asking = (said: string) =>
    `await ctx.suspend({ kind: 'approval', prompt: 'Go?' }); return { said: '${said}' };`;
  const gate = (said: string) => ({ [TYPE]: { body: asking(said), role: 'gate' } });
  await api.install({ nodes: gate('old') });
  await api.registered(one());
  const runId = await api.start('one');
  await api.asks(runId);
  await api.install({ version: '2.0.0', nodes: gate('new') });
  const gone = await api.request({ method: 'DELETE', url: `${PACKS_URL}/${PACK_NAME}?version=1.0.0` });
  assert.equal(gone.statusCode, 204, gone.body);
  await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { action: 'accept' } });
  assert.deepEqual((await api.ended(runId)).outputs, { said: 'old' });
  await api.request({ method: 'DELETE', url: `${PACKS_URL}/${PACK_NAME}` });
  assertError(await api.post('/v1/runs', { workflowId: 'one' }), 422, 'capability_required');
});
