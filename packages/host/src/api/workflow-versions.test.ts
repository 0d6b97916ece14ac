import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError } from './testing.ts';

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
