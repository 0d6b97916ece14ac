import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { node, workflow } from '../testing/definitions.ts';
import { noPacks } from '../testing/no-packs.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { createWorkflows } from '../workflows/workflows.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const openApi = onePerFile(apiTest);
const URL = '/v1/host/gantry/workflows';
const flow = (id: string, nodeId: string, version: string) =>
  workflow(id, [node(nodeId, 'core.noop')], { version });

async function register(definition: WorkflowDefinition): Promise<JsonObject> {
  const response = await (await openApi()).post(URL, definition);
  assert.equal(response.statusCode, 201, response.body);
  return response.json();
}

test('other content under a registered version is refused unless it replaces it', async () => {
  const api = await openApi();
  const first = await register(flow('same', 'a', '1.0.0'));
  assert.equal(first.current, true);
  assert.equal((await register(flow('same', 'a', '1.0.0'))).hash, first.hash);
  const other = flow('same', 'b', '1.0.0');
  const refused = await api.post(URL, other);
  assertError(refused, 409, 'conflict', { workflowId: 'same', version: '1.0.0', hash: first.hash! });
  assert.match(refused.json().message, /replace=true/);
  assert.equal((await api.get('/v1/workflows/same')).json().nodes[0].id, 'a');
  const replaced = await api.post(`${URL}?replace=true`, other);
  assert.equal(replaced.statusCode, 201, replaced.body);
  assert.equal((await api.get('/v1/workflows/same')).json().nodes[0].id, 'b');
});

test('the short and the whole form of a definition are one version, which is shown whole', async () => {
  const api = await openApi();
  const short = {
    $schema: 'http://x/schema.json',
    id: 'short',
    name: 'Short',
    version: '1.0.0',
    nodes: [{ id: 'a', typeId: 'core.noop', name: 'A' }],
  };
  const registered = await api.post(URL, short);
  assert.equal(registered.statusCode, 201, registered.body);
  const { hash, current } = registered.json();
  const whole = {
    ...workflow('short', [node('a', 'core.noop', {}, { name: 'A' })]),
    name: 'Short',
  };
  const again = await register(whole);
  assert.deepEqual([again.hash, again.current], [hash, current]);
  assert.deepEqual((await api.get('/v1/workflows/short')).json(), whole);
  assert.deepEqual((await api.get(`${URL}/short/versions/${hash}`)).json(), whole);
  const runId = await api.start('short');
  assert.equal((await api.ended(runId)).status, 'completed');
});

test('a lower version that is registered later is kept and does not become current', async () => {
  const api = await openApi();
  await register(flow('order', 'a', '1.9.0'));
  await register(flow('order', 'b', '1.10.0'));
  const lower = await register(flow('order', 'c', '1.9.5'));
  assert.equal(lower.current, false);
  const read = async () => (await api.get('/v1/workflows/order')).json().version;
  assert.equal(await read(), '1.10.0');
  const { versions } = (await api.get(`${URL}/order/versions`)).json();
  assert.equal(versions.length, 3);
  assert.equal((await register(flow('order', 'c', '1.9.5'))).current, false, 'also when it comes again');
  assert.equal(await read(), '1.10.0');
  const back = await api.post(`${URL}?replace=true`, flow('order', 'c', '1.9.5'));
  assert.equal(back.json().current, true);
  assert.equal(await read(), '1.9.5');
});

/** Runs `between` after the first look at the versions of a workflow, before what follows from it is written. */
function interrupted(store: Store, between: () => Promise<unknown>): Store {
  let isFirst = true;
  const workflowVersions: Store['records']['workflowVersions'] = async (...asked) => {
    const found = await store.records.workflowVersions(...asked);
    if (isFirst) {
      isFirst = false;
      await between();
    }
    return found;
  };
  return { ...store, records: { ...store.records, workflowVersions } };
}

for (const backend of await backends())
  test(`of two registrations at the same instant the higher version is current: ${backend.name}`, {
    skip: backend.skip,
  }, async (t) => {
    t.after(backend.remove);
    const store = await backend.open();
    t.after(() => store.close());
    const service = (over: Store) =>
      createWorkflows({ store: over, packs: noPacks, now: Date.now, cacheMs: Number.POSITIVE_INFINITY });
    const terms = { replace: false };
    const register = (over: Store, version: string) =>
      service(over).register('acme', flow('race', `n${version}`, version), terms);
    await register(store, '1.0.0');
    const late = await register(
      interrupted(store, () => register(store, '1.2.0')),
      '1.1.0',
    );
    assert.equal(late.isCurrent, false);
    const versions = await store.records.workflowVersions('acme', 'race');
    assert.deepEqual(
      versions.map(({ version }) => version),
      ['1.2.0', '1.1.0', '1.0.0'],
    );
    const deleted = interrupted(store, () => service(store).remove('acme', 'race', false));
    assert.equal((await register(deleted, '1.1.5')).isCurrent, true, 'what was higher is gone');
    assert.equal((await store.records.workflowVersions('acme', 'race')).length, 1);
  });
