import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { assertPublic } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

test('an event becomes a run that names its delivery', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('trigger-bridge/deliver', { scenario: 'deliver', source: 'webhook' });
  assert.deepEqual([answer.outcome, answer.deliveredCount], ['delivered', 1]);
  const { events } = (await api.get(`/v1/host/sample/test/runs/${answer.runId}/events`)).json();
  const attempted = events.find(({ type }: { type: string }) => type === 'trigger.delivery.attempted');
  assert.equal(attempted.payload.outcome, 'delivered');
  assert.equal(events[0].causationId, attempted.eventId);
});

test('an event that comes twice is delivered once', async (t) => {
  const api = await seamTest(t);
  const body = { scenario: 'dedup', dedupKey: 'conformance-dedup-key', source: 'queue' };
  const answer = await api.drive('trigger-bridge/deliver', body);
  assert.equal(answer.deliveredCount, 1);
  const log = (await api.get(`/v1/host/sample/test/runs/${answer.runId}/events`)).json();
  assert.equal(log.events[1].payload.dedupKey, body.dedupKey);
  const again = await api.drive('trigger-bridge/deliver', body);
  assert.deepEqual([again.deliveredCount, again.runId === answer.runId], [1, false]);
  assert.equal((await api.get('/v1/host/gantry/runs')).json().runs.length, 2);
});

test('an event that finds no room is given up after its attempts', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('trigger-bridge/deliver', { scenario: 'exhaust', source: 'webhook' });
  assert.deepEqual([answer.outcome, answer.deliveredCount, answer.runId], ['dead-lettered', 0, undefined]);
  assert.deepEqual((await api.get('/v1/host/gantry/runs')).json().runs, []);
  const { deadLetters } = (await api.get('/v1/host/gantry/dead-letters')).json();
  assert.deepEqual([deadLetters[0].reason, deadLetters[0].attempts], ['retry-exhausted', 2]);
  assert.deepEqual((await api.get('/v1/trigger-subscriptions')).json(), { subscriptions: [] });
  const { events } = (await api.get('/v1/host/sample/test/runs/__exhaust__/events')).json();
  assert.deepEqual(
    events.map(({ type, payload }: JsonObject) => [type, Object(payload).outcome ?? Object(payload).toState]),
    [
      ['trigger.delivery.attempted', 'retrying'],
      ['trigger.delivery.attempted', 'dead-lettered'],
      ['trigger.subscription.state.changed', 'dead-lettered'],
    ],
  );
});

test('each source gives its run its own block, without credentials, and attachments from inside are dropped', async (t) => {
  const api = await seamTest(t);
  const ingest = (body: object) =>
    api.drive('trigger-bridge/ingest', { verification: { mode: 'none' }, ...body });
  const webhook = { method: 'POST', headers: { Authorization: 'Bearer canary' }, body: { x: 1 } };
  const taken = await ingest({ source: 'webhook', webhook });
  assertPublic('trigger-event.schema.json', taken.triggerEvent);
  assert.deepEqual(taken.triggerEvent.webhook.body, { x: 1 });
  assert.doesNotMatch(JSON.stringify(taken), /canary|authorization/i);
  const names = ['attempt', 'dedupKey', 'outcome', 'runId', 'subscriptionId'];
  assert.deepEqual(Object.keys(taken.deliveryEvent).sort(), names);

  const form = await ingest({ source: 'form', form: { fields: { name: 'Ada' } } });
  assertPublic('trigger-event.schema.json', form.triggerEvent);
  assert.deepEqual(form.triggerEvent.form, { fields: { name: 'Ada' } });

  const attachmentUrl = 'http://169.254.169.254/latest/meta-data/';
  const mail = await ingest({ source: 'email', attachmentUrl });
  assertPublic('trigger-event.schema.json', mail.triggerEvent);
  assert.deepEqual(mail.triggerEvent.email.attachments, []);
  assert.deepEqual([mail.ssrfRefused, mail.deliveryEvent.outcome], [true, 'delivered']);
  assert.doesNotMatch(JSON.stringify(mail), /169\.254/);
});
