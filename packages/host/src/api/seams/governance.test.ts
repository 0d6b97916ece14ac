import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing/seam-test.ts';

const CASES = [
  { scenario: 'unauthorized-grant', released: false, type: 'authorization.decided' },
  { scenario: 'grant', released: true, type: 'approval.granted' },
  { scenario: 'reject', released: false, type: 'approval.rejected' },
  { scenario: 'override', released: true, type: 'approval.overridden' },
  { scenario: 'quorum', released: true, type: 'approval.granted' },
];

test('a gate lets through whom its role, its quorum or an override lets through', async (t) => {
  const api = await seamTest(t);
  for (const { scenario, released, type } of CASES) {
    const body = { scenario, principal: 'someone', reason: 'urgent' };
    const answer = await api.drive('governance/approval-gate', body);
    assert.deepEqual([answer.released, answer.event.type], [released, type], scenario);
    const { status } = (await api.get(`/v1/runs/${answer.runId}`)).json();
    assert.equal(status, scenario === 'unauthorized-grant' ? 'cancelled' : 'completed', scenario);
  }
});

test('the record says who decided, and why', async (t) => {
  const api = await seamTest(t);
  const ask = async (scenario: string) =>
    (await api.drive('governance/approval-gate', { scenario, principal: 'boss', reason: 'urgent' })).event
      .payload;
  assert.deepEqual(await ask('override'), { gateId: 'gate', principal: 'boss', reason: 'urgent' });
  assert.deepEqual((await ask('quorum')).quorumProgress, { granted: 2, required: 2 });
  const denied = await ask('unauthorized-grant');
  assert.deepEqual([denied.principal, denied.allowed], ['boss', false]);
});
