import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edge, node, workflow } from '../../host/src/testing/definitions.ts';
import { realHost } from './testing/real-host.ts';

const FLOW = workflow(
  'flow',
  [
    node('note', 'core.setVariable', { name: 'city', value: 'Bern' }),
    node('stop', 'core.fail', { code: 'out_of_stock', message: 'Nothing left.' }),
    node('mend', 'core.noop'),
  ],
  {
    variables: [{ name: 'city', type: 'string' }],
    edges: [edge('note', 'stop'), edge('stop', 'mend', { triggerRule: 'any_failed' })],
  },
);

test('events are lines in words, and failures come first where asked', async (t) => {
  const { gantry, client } = await realHost(t, [FLOW]);
  const { runId } = await client.runs.create({ workflowId: 'flow' });
  await client.runs.wait(runId);
  const plain = await gantry('events', runId);
  assert.match(plain.out, /^ +0 {2}[\d:.]+ {2}run\.started .*workflowId: flow/);
  assert.match(plain.out, /variable\.changed +note {2}name: city, .*next: Bern/);
  assert.match(plain.out, /node\.failed +stop {2}out_of_stock: Nothing left\./);
  const first = await gantry('events', runId, '--failures');
  assert.match(first.out, /^ +\d+ {2}[\d:.]+ {2}node\.failed +stop/);
  assert.deepEqual(first.out.split('\n').sort(), plain.out.split('\n').sort());
  const json = (await gantry('events', runId, '--failures', '--json')).out.split('\n')[0] ?? '';
  assert.equal(JSON.parse(json).payload.error.code, 'out_of_stock');
  const both = await gantry('events', runId, '--failures', '--follow');
  assert.match(both.err, /use it without --follow/);
});
