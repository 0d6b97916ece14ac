import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.upsert';

test('an action is dispatched as often as the manifest of its connector says, and the others wait', async (t) => {
  const api = await packTest(t);
  const rateLimit = { requests: 1, perSeconds: 1 };
  const connector = {
    id: 'acme',
    displayName: 'Acme',
    actions: [{ typeId: TYPE, displayName: 'Upsert', idempotent: true, rateLimit }],
  };
  const nodes = { [TYPE]: { body: 'return { at: Date.now() };', role: 'side-effect' } };
  await api.install({ nodes, manifest: { connector } });
  await api.registered(workflow('one', [node('a', TYPE)]));
  // Starts the process of the pack: what waits for that is not the limit
  await api.ended(await api.start('one'));
  const runs = await Promise.all([0, 1, 2].map(() => api.start('one')));
  const times = await Promise.all(
    runs.map(async (runId) => {
      assert.equal((await api.ended(runId)).status, 'completed');
      const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
      return Date.parse(events.find(({ type }: RunEventDoc) => type === 'node.completed').timestamp);
    }),
  );
  const [first = 0, , last = 0] = times.toSorted((a, b) => a - b);
  assert.ok(last - first >= 1_000, `three calls within ${last - first} ms`);
});
