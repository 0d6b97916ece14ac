import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { skipWithoutPublicData as skip } from '../../../protocol/src/testing/public-schemas.ts';
import { type FixtureHost, fixtureHost } from '../testing/fixture-host.ts';
import { typesOf } from '../testing/run-events.ts';

const fork = async (host: FixtureHost, runId: string, fromSeq: number): Promise<string> => {
  const response = await host.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().runId;
};

/** A replay from every point is the same run again: the same events, no divergence, the same end. */
async function replaysFromEverywhere(host: FixtureHost, runId: string): Promise<void> {
  const source = await host.ended(runId);
  const events = await host.events(runId);
  for (let fromSeq = 0; fromSeq < events.length; fromSeq++) {
    const replayId = await fork(host, runId, fromSeq);
    const replayed = await host.ended(replayId);
    const relived: RunEventDoc[] = await host.events(replayId);
    assert.deepEqual(typesOf(relived), typesOf(events), `from ${fromSeq}`);
    assert.equal(replayed.status, source.status);
    assert.deepEqual(replayed.variables, source.variables);
    assert.deepEqual(replayed.channels, source.channels);
    const { divergedAtSeq } = (await host.get(`/v1/runs/${runId}:diff?against=${replayId}`)).json();
    assert.equal(divergedAtSeq, null, `from ${fromSeq}`);
  }
}

test('votes of a quorum are lived through again', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-interrupt-quorum');
  for (const voter of ['a', 'b', 'c'])
    assert.equal((await host.answer(runId, 'gate', { action: 'accept', voter })).statusCode, 200);
  await replaysFromEverywhere(host, runId);
});

test('a conversation keeps its turns and its channel', { skip }, async () => {
  const host = await fixtureHost();
  await replaysFromEverywhere(host, await host.start('conformance-conversation-replay'));
});

test('a conversation with a person keeps its turns', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-conversation-capability-negotiation');
  await host.reaches(runId, 'waiting-approval');
  const turn = (content: string) => ({
    messageId: content,
    from: 'me',
    role: 'user',
    content,
    ts: 1,
    turnIndex: 1,
  });
  const exchange = await host.answer(runId, 'convo', { operation: 'exchange', turn: turn('hello') });
  assert.equal(exchange.statusCode, 200, exchange.body);
  const close = await host.answer(runId, 'convo', { operation: 'close' });
  assert.equal(close.statusCode, 200, close.body);
  await replaysFromEverywhere(host, runId);
});

test('children, joins and decisions are read from the record', { skip }, async () => {
  const host = await fixtureHost();
  for (const workflowId of [
    'conformance-subworkflow-parent',
    'conformance-dispatch-cross-worker-handoff',
    'conformance-multi-agent-handoff',
  ])
    await replaysFromEverywhere(host, await host.start(workflowId));
});

test('delays, failures and channels come out the same', { skip }, async () => {
  const host = await fixtureHost();
  await replaysFromEverywhere(host, await host.start('conformance-channel-ttl'));
  await replaysFromEverywhere(host, await host.start('conformance-failure'));
});
