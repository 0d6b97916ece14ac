/** Pause and resume while work is outside the process. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { node, workflow } from '../testing/definitions.ts';
import { type TestHost, testHost } from '../testing/test-host.ts';

const EFFECTS = 60;
const effects = workflow('effects', [
  node('act', 'core.conformance.side-effect', { effects: EFFECTS }),
  node('after', 'core.noop'),
]);
const headers = { 'content-type': 'application/json' };

const post = async (host: TestHost, url: string, body: unknown) =>
  host.request({ method: 'POST', url, payload: JSON.stringify(body), headers });

async function endOf(host: TestHost, runId: string): Promise<string> {
  for (;;) {
    const poll = await host.request({ url: `/v1/runs/${runId}/events/poll?lastSequence=100000&timeout=60` });
    if (poll.json().isTerminal) return poll.json().runStatus;
  }
}

for (const drainPolicy of ['drain-current-node', 'immediate']) {
  test(`paused (${drainPolicy}) in the middle of effects, a run repeats and loses none`, async (t) => {
    const host = await testHost(t, { workflows: [effects] });
    const { runId } = (await post(host, '/v1/runs', { workflowId: 'effects' })).json();
    const paused = await post(host, `/v1/runs/${runId}:pause`, { drainPolicy });
    assert.equal(paused.statusCode, 202, paused.body);
    assert.equal((await host.request({ url: `/v1/runs/${runId}` })).json().status, 'paused');
    const resumed = await post(host, `/v1/runs/${runId}:resume`, {});
    assert.equal(resumed.statusCode, 202, resumed.body);
    assert.equal(await endOf(host, runId), 'completed');

    const { events } = (await host.request({ url: `/v1/runs/${runId}/events/poll` })).json();
    const types: string[] = events.map((event: { type: string }) => event.type);
    assert.equal(types[types.indexOf('run.paused') + 1], 'run.resumed', types.join(' '));
    const log = await readFile(path.join(host.dataDir, 'side-effects.log'), 'utf8');
    const ids = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).invocationId);
    assert.equal(ids.length, EFFECTS);
    assert.equal(new Set(ids).size, EFFECTS);
  });
}

test('a cancelled run stops its effects and says so at once', async (t) => {
  const host = await testHost(t, { workflows: [effects] });
  const { runId } = (await post(host, '/v1/runs', { workflowId: 'effects' })).json();
  const cancelled = await post(host, `/v1/runs/${runId}/cancel`, { reason: 'enough' });
  assert.deepEqual(cancelled.json(), { runId, status: 'cancelled' });
  const { events } = (await host.request({ url: `/v1/runs/${runId}/events/poll` })).json();
  assert.deepEqual(
    events.slice(-2).map((event: { type: string }) => event.type),
    ['node.cancelled', 'run.cancelled'],
  );
});
