import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/schema';
import { publicValidator, skipWithoutPublicData } from '../testing/public-schemas.ts';
import { HEARTBEAT_CAPABILITY, HeartbeatEvaluated, HeartbeatStateChanged } from './heartbeats.ts';
import { CreateScheduleRequest, Instant, SCHEDULING_CAPABILITY } from './schedules.ts';

test('a time needs an offset', () => {
  for (const good of ['2027-01-31T08:00Z', '2027-01-31T08:00:00.125+01:00'])
    assert.ok(Check(Instant, good), good);
  for (const bad of ['2027-01-31', '2027-01-31T08:00:00', 'tomorrow']) assert.ok(!Check(Instant, bad), bad);
});

test('a request for a schedule is closed', () => {
  assert.ok(Check(CreateScheduleRequest, { workflowId: 'w', cron: '* * * * *' }));
  assert.ok(!Check(CreateScheduleRequest, { workflowId: 'w', cron: '* * * * *', crom: 1 }));
});

test('both capabilities have the public shape', { skip: skipWithoutPublicData }, () => {
  const validate = publicValidator('capabilities.schema.json');
  const document = {
    protocolVersion: '1.0',
    supportedEnvelopes: [],
    schemaVersions: {},
    limits: { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0 },
  };
  assert.deepEqual(validate?.({ ...document, scheduling: SCHEDULING_CAPABILITY }), []);
  assert.deepEqual(validate?.({ ...document, heartbeat: HEARTBEAT_CAPABILITY }), []);
  assert.notDeepEqual(validate?.({ ...document, heartbeat: { ...HEARTBEAT_CAPABILITY, more: 1 } }), []);
});

test('heartbeat events take what the public schemas take', { skip: skipWithoutPublicData }, () => {
  const evaluated = publicValidator('heartbeat-evaluated.schema.json');
  const changed = publicValidator('heartbeat-state-changed.schema.json');
  const evaluations = [
    { heartbeatId: 'h', status: 'ok', changed: true },
    { heartbeatId: 'h', status: 'late', changed: true },
    { heartbeatId: '', status: 'ok', changed: true },
    { heartbeatId: 'h', status: 'timeout', changed: false, more: 1 },
  ];
  for (const each of evaluations) {
    assert.equal(Check(HeartbeatEvaluated, each), evaluated?.(each).length === 0, JSON.stringify(each));
  }
  for (const each of [
    { heartbeatId: 'h', from: {}, to: { unread: 3 } },
    { heartbeatId: 'h', from: null, to: {} },
    { heartbeatId: 'h', to: {} },
  ]) {
    assert.equal(Check(HeartbeatStateChanged, each), changed?.(each).length === 0, JSON.stringify(each));
  }
});
