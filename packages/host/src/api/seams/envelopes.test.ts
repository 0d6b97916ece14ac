import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { onePerFile } from '../../testing/one-per-file.ts';
import { type SeamTest, seamTest } from './testing/seam-test.ts';

const shared = onePerFile((lifetime) => seamTest(lifetime));

const meta = { source: 'ai-generation', ts: '2026-01-01T00:00:00Z' };
const envelope = (type: string, payload: object, correlationId: string, more: object = {}) => ({
  type,
  schemaVersion: 1,
  envelopeId: `e-${correlationId}`,
  correlationId,
  payload,
  meta,
  ...more,
});
const ask = (id: string, more = {}) =>
  envelope('clarification.request', { questions: [{ id: 'q1', question: 'why?' }] }, id, more);

async function eventsOf({ get }: SeamTest, runId: string) {
  const response = await get(`/v1/host/sample/test/runs/${runId}/events`);
  return response.json().events;
}
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

test('a clarification becomes a question of the run, caused by its envelope', async () => {
  const api = await shared();
  const untrusted = { meta: { ...meta, contentTrust: 'untrusted' } };
  const body = { envelope: ask('c-ask', untrusted), projectTo: { runId: 'r-ask', nodeId: 'n' } };
  assert.equal((await api.drive('envelope/accept', body)).status, 'accepted');
  const events = await eventsOf(api, 'r-ask');
  assert.deepEqual(typesOf(events), ['node.suspended', 'interrupt.requested', 'clarification.requested']);
  for (const event of events) {
    assert.equal(event.causationId, 'c-ask');
    assert.equal(event.contentTrust, 'untrusted');
    assert.equal(event.nodeId, 'n');
  }
  assert.equal(events[1].payload.kind, 'clarification');
  assert.deepEqual(events[1].payload.data.questions, [{ id: 'q1', question: 'why?' }]);
});

test('an error of the model is logged, and is no failure of the node', async () => {
  const api = await shared();
  const canary = 'sk-canary-value-1';
  const body = {
    envelope: envelope('error', { code: 'x', message: `see ${canary}` }, 'c-err'),
    byokCanaries: [{ value: canary, secretId: 'k' }],
    projectTo: { runId: 'r-err', nodeId: 'n' },
  };
  const outcome = await api.drive('envelope/accept', body);
  assert.equal(outcome.redactionCount, 1);
  const events = await eventsOf(api, 'r-err');
  assert.deepEqual(typesOf(events), ['log.appended']);
  assert.equal(events[0].payload.level, 'error');
  assert.ok(!JSON.stringify(events).includes(canary));
});

test('what a node does not accept fails it, or is discarded with a warning', async () => {
  const api = await shared();
  const body = (id: string, refusalMode: string) => ({
    envelope: envelope('vendor.x.bar', {}, id),
    hostSupportedEnvelopes: ['vendor.x.bar', 'vendor.x.foo'],
    nodeAllowedKinds: ['vendor.x.foo'],
    projectTo: { runId: `r-${id}`, nodeId: 'n', refusalMode },
  });
  assert.equal((await api.drive('envelope/accept', body('fail', 'fail-node'))).status, 'gated');
  const failed = (await eventsOf(api, 'r-fail')).find(({ type }: { type: string }) => type === 'node.failed');
  assert.equal(failed.payload.error.code, 'envelope_contract_violation');
  assert.equal(failed.payload.error.details.refusedType, 'vendor.x.bar');
  await api.drive('envelope/accept', body('warn', 'discard-and-warn'));
  const warned = await eventsOf(api, 'r-warn');
  assert.deepEqual(
    warned.map(({ type, payload }: { type: string; payload: { level: string } }) => [type, payload.level]),
    [['log.appended', 'warn']],
  );
});

test('a full counter is a breach and the end of the node', async () => {
  const api = await shared();
  await api.drive('envelope/accept', {
    envelope: ask('c-cap'),
    counters: { clarificationRounds: { current: 3, cap: 3 } },
    projectTo: { runId: 'r-cap', nodeId: 'n' },
  });
  const events = await eventsOf(api, 'r-cap');
  assert.deepEqual(typesOf(events).slice(0, 2), ['cap.breached', 'node.failed']);
  assert.deepEqual(events[0].payload, { kind: 'clarification', limit: 3, observed: 4, nodeId: 'n' });
  assert.equal(events[1].payload.error.code, 'cap_breached');
});

test('a correlation keeps its outcome, also for other processes', async () => {
  const api = await shared();
  const persistedDedup = { runId: 'r-dedup' };
  const first = await api.drive('envelope/accept', { envelope: ask('c-1'), persistedDedup });
  const again = { ...ask('c-1'), envelopeId: 'another' };
  const second = await api.drive('envelope/accept', { envelope: again, persistedDedup });
  assert.equal(second.envelopeId, first.envelopeId);
  const other = envelope('error', { code: 'x', message: 'y' }, 'c-1');
  const conflict = await api.drive('envelope/accept', { envelope: other, persistedDedup });
  assert.equal(conflict.reason, 'envelope_correlation_conflict');
});

test('a correlation that came with another kind is a conflict', async () => {
  const api = await shared();
  assert.equal((await api.drive('envelope/accept', { envelope: ask('c-two') })).status, 'accepted');
  assert.equal((await api.drive('envelope/accept', { envelope: ask('c-two') })).status, 'accepted');
  const other = envelope('error', { code: 'x', message: 'y' }, 'c-two');
  const { reason } = await api.drive('envelope/accept', { envelope: other });
  assert.equal(reason, 'envelope_correlation_conflict');
});

test('a surface of the catalogue is kept in full, another is refused', async () => {
  const api = await shared();
  const surface = (component: string) => ({
    catalogVersion: '0.9.1',
    surface: { components: [{ component, text: 'Hello' }] },
  });
  for (const component of ['heading', 'text'])
    await api.drive('a2ui/emit-surface', { runId: 'r-ui', surface: surface(component) });
  const kept = (await api.get('/v1/host/sample/a2ui/materialized?runId=r-ui')).json();
  assert.deepEqual(kept.surface, surface('text'));
  const url = '/v1/host/sample/a2ui/emit-surface';
  const refused = await api.post(url, { runId: 'r-ui', surface: surface('iframe') });
  assert.equal(refused.statusCode, 400, refused.body);
});

test('an untrusted surface answers no approval', async () => {
  const api = await shared();
  const payload = { catalogVersion: '0.9.1', surface: { components: [] } };
  const surface = envelope('ui.a2ui-surface', payload, 'c-gate', {
    meta: { ...meta, contentTrust: 'untrusted' },
  });
  const hostSupportedEnvelopes = ['ui.a2ui-surface'];
  const body = { envelope: surface, hostSupportedEnvelopes, boundInterruptKind: 'approval' };
  assert.equal((await api.drive('envelope/accept', body)).reason, 'untrusted_content_blocks_approval');
});

test('an envelope of a bad shape says where, without its values', async () => {
  const api = await shared();
  const told = await api.drive('envelope/accept', {
    envelope: envelope('error', { code: 'x', message: 'y' }, 'c-when', { meta: { ...meta, ts: 'tomorrow' } }),
  });
  assert.equal(told.status, 'invalid');
  assert.match(String(told.reason), /^invalid_envelope_shape: \/meta\/ts must be an ISO 8601 date and time/);
  assert.doesNotMatch(JSON.stringify(told), /tomorrow/);
});

test('without the capability nothing is judged', async () => {
  const api = await shared();
  const probe = await api.drive('test/capability-toggle', { name: '__probe__', value: null });
  assert.deepEqual(probe, { overlay: {} });
  const url = '/v1/host/sample/test/capability-toggle';
  const unknown = await api.post(url, { name: 'host.other', value: true });
  assert.equal(unknown.json().error, 'validation_error');
  await api.drive('test/capability-toggle', { name: 'host.aiEnvelope.supported', value: false });
  const refused = await api.drive('envelope/accept', { envelope: ask('c-off') });
  assert.equal(refused.reason, 'capability_required');
  await api.drive('test/reset', {});
  assert.equal((await api.drive('envelope/accept', { envelope: ask('c-on') })).status, 'accepted');
});

test('without a mapping its use is refused, whatever else is wrong with the definition', async () => {
  const api = await shared();
  const inputMapping = { childInput: 'parentVar' };
  for (const [name, typeId, config] of [
    ['agents.dispatchMapping', 'core.dispatch', { nextWorkerIds: ['child-a'] }],
    ['subWorkflow.inputMapping', 'core.subWorkflow', { childWorkflowId: 'some-child' }],
  ] as const) {
    const register = (more: JsonObject) =>
      api.post('/v1/host/sample/workflows', {
        workflowId: 'maps',
        nodes: [{ nodeId: 'a', typeId, config: { ...config, ...more } }],
      });
    await api.drive('test/capability-toggle', { name, value: false });
    const refused = (await register({ inputMapping })).json();
    assert.deepEqual([refused.error, refused.details.requiredCapability], ['validation_error', name]);
    assert.notEqual((await register({ inputMapping: {} })).json().details?.requiredCapability, name);
    assert.deepEqual(await api.drive('test/capability-toggle', { reset: true }), { overlay: {} });
    assert.notEqual((await register({ inputMapping })).json().details?.requiredCapability, name);
  }
});

test('events of envelopes name no credential, and nothing that a model sent', async () => {
  const api = await shared();
  const payload = { provider: 'p', model: 'm', refusalText: 'secret-canary-1' };
  const url = '/v1/host/sample/test/emit-envelope-reliability';
  const leak = await api.post(url, { runId: 'r-leak', type: 'envelope.refusal', payload });
  assert.equal(leak.json().error, 'envelope_reliability_credential_leak');
  const short = await api.post(url, { runId: 'r-leak', type: 'envelope.refusal', payload: {} });
  assert.equal(short.json().error, 'invalid_argument');
  const said = { path: 'markdown-fence', recoveredContent: 'what the model sent' };
  const shown = await api.post(url, { runId: 'r-leak', type: 'envelope.recovery.applied', payload: said });
  assert.deepEqual([shown.statusCode, shown.json().error], [400, 'envelope_recovery_content_leak']);
  const good = { runId: 'r-told', type: 'envelope.refusal', payload: { provider: 'p', model: 'm' } };
  await api.drive('test/emit-envelope-reliability', good);
  assert.deepEqual(typesOf(await eventsOf(api, 'r-told')), ['envelope.refusal']);
});
