import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, WorkflowVariable } from '@gantry/protocol';
import { apiTest } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const openApi = onePerFile(apiTest);
const text = (name: string, sensitive: boolean): WorkflowVariable => ({ name, type: 'string', sensitive });

test('a sensitive variable reaches no plain variable of a child', async () => {
  const api = await openApi();
  const child = (id: string, sensitive: boolean) =>
    workflow(id, [node('a', 'core.noop')], { variables: [text('word', sensitive)] });
  const parent = (id: string, childId: string) =>
    workflow(
      id,
      [node('call', 'core.subWorkflow', { workflowId: childId, inputMapping: { word: 'secret' } })],
      {
        variables: [text('secret', true)],
      },
    );
  await api.registered(child('plain-child', false));
  await api.registered(child('sealed-child', true));
  await api.registered(parent('plain-parent', 'plain-child'));
  await api.registered(parent('sealed-parent', 'sealed-child'));
  const inputs: JsonObject = { secret: 'open sesame' };
  const refused = await api.ended(await api.start('plain-parent', { inputs }));
  assert.equal(refused.status, 'failed');
  assert.match(JSON.stringify(refused.error), /declare the variable word of plain-child as sensitive too/);
  assert.equal((await api.ended(await api.start('sealed-parent', { inputs }))).status, 'completed');
  const runs = (await api.get('/v1/host/gantry/runs?limit=100')).json().runs as { runId: string }[];
  for (const { runId } of runs) {
    const log = await api.get(`/v1/runs/${runId}/events/poll`);
    assert.doesNotMatch(log.body, /open sesame/);
  }
});
