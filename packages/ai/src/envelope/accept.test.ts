import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor, EMPTY_REDACTOR } from '@gantry/protocol/redaction';
import { accept, type Outcome, type Receiver } from './accept.ts';
import { completed } from './document.ts';
import { projected } from './projection.ts';

const KINDS = ['clarification.request', 'schema.request', 'schema.response', 'error'];
const receiver = (more: Partial<Receiver> = {}): Receiver => ({
  isSupported: true,
  versions: { error: 1, 'clarification.request': 1 },
  strictness: 'warn',
  counters: {},
  redactor: EMPTY_REDACTOR,
  trust: 'trusted',
  isApproval: false,
  priorOf: () => undefined,
  ...more,
});
const error = (more: object = {}) => ({
  type: 'error',
  schemaVersion: 1,
  envelopeId: 'e1',
  correlationId: 'c1',
  payload: { code: 'x', message: 'canary-value-1' },
  meta: { source: 'ai-generation', ts: '2026-01-01T00:00:00Z' },
  ...more,
});
const vendor = (type: string) => error({ type, payload: {} });
const reasonOf = (outcome: Outcome): string => ('reason' in outcome ? outcome.reason : outcome.status);

test('what no gate refuses is accepted, with its trust', () => {
  const outcome = accept(error(), receiver({ trust: 'untrusted' }));
  assert.equal(outcome.status, 'accepted');
  assert.equal(outcome.normalizedMeta.contentTrust, 'untrusted');
  assert.equal(outcome.redactionCount, 0);
});

test('gates stand in the order of the protocol', () => {
  const broken = error({ type: 'vendor.a.b', payload: undefined, meta: { source: 'x', ts: 'tomorrow' } });
  assert.equal(reasonOf(accept(broken, receiver({ isSupported: false }))), 'capability_required');
  assert.match(reasonOf(accept(broken, receiver())), /^invalid_envelope_shape: /);
  const foreign = receiver({ supported: ['vendor.c.d'], accepts: ['vendor.a.b'] });
  assert.match(reasonOf(accept(vendor('vendor.a.b'), foreign)), /^unknown_envelope_kind/);
  const unaccepted = receiver({ supported: ['vendor.a.b', 'vendor.c.d'], accepts: ['vendor.c.d'] });
  const gated = accept(vendor('vendor.a.b'), unaccepted);
  assert.equal(gated.status, 'gated');
  assert.deepEqual(gated.allowedKinds, [...KINDS, 'vendor.c.d']);
});

test('a universal kind passes every contract, and its payload is checked', () => {
  assert.equal(accept(error(), receiver({ supported: [], accepts: [] })).status, 'accepted');
  const outcome = accept(error({ payload: { message: 'canary-value-1' } }), receiver());
  assert.equal(outcome.status, 'invalid');
  assert.equal(outcome.reason, 'envelope_invalid');
  assert.ok(outcome.details.length > 0);
  assert.ok(!JSON.stringify(outcome).includes('canary'));
});

test('an older version is accepted unless the host is strict, a newer one never', () => {
  const older = error({ schemaVersion: 0 });
  const drifted = accept(older, receiver());
  assert.ok(drifted.status === 'accepted' && drifted.drift);
  assert.equal(reasonOf(accept(older, receiver({ strictness: 'strict' }))), 'unknown_schema_version');
  const newer = accept(error({ schemaVersion: 9 }), receiver());
  assert.equal(reasonOf(newer), 'unknown_schema_version');
  assert.ok(newer.status === 'invalid' && newer.details[0]?.instancePath === '/schemaVersion');
});

test('a full counter breaches, by the name of the limit', () => {
  const counters = { envelopesPerTurn: { current: 5, cap: 5 }, schemaRounds: { current: 2, cap: 2 } };
  const outcome = accept(error(), receiver({ counters }));
  assert.ok(outcome.status === 'breached' && outcome.capKind === 'envelopes');
  assert.match(outcome.reason, /envelopesPerTurn.* 5/);
  const asked = error({ type: 'schema.request', payload: { envelopeType: 'a' } });
  assert.equal(reasonOf(accept(asked, receiver({ counters }))).slice(0, 12), 'schemaRounds');
  const known = { envelopeType: 'error', outcome: accept(error(), receiver()) };
  assert.equal(accept(error(), receiver({ counters, priorOf: () => known })).status, 'accepted');
});

test('secrets are marked and counted, and never in a refusal', () => {
  const redactor = createRedactor([{ value: 'canary-value-1', label: 'k' }]);
  const twice = error({ payload: { code: 'x', message: 'canary-value-1 canary-value-1 [REDACTED:old]' } });
  const outcome = accept(twice, receiver({ redactor }));
  assert.ok(outcome.status === 'accepted');
  assert.equal(outcome.redactionCount, 2);
  assert.deepEqual(outcome.redactedPayload, {
    code: 'x',
    message: '[REDACTED:k] [REDACTED:k] [REDACTED:old]',
  });
});

test('untrusted content answers no approval', () => {
  const untrusted = receiver({ trust: 'untrusted', isApproval: true });
  assert.equal(reasonOf(accept(error(), untrusted)), 'untrusted_content_blocks_approval');
  const own = error({ meta: { source: 'user', ts: '2026-01-01T00:00:00Z', contentTrust: 'trusted' } });
  assert.equal(accept(own, untrusted).status, 'accepted');
});

test('a repeat gets the outcome that it had, another kind a conflict', () => {
  const before: Outcome = { status: 'gated', reason: 'then', allowedKinds: [] };
  const priorOf = () => ({ envelopeType: 'error', outcome: before });
  assert.equal(accept(error(), receiver({ priorOf })), before);
  const other = error({ type: 'schema.request', payload: { envelopeType: 'a' } });
  assert.equal(reasonOf(accept(other, receiver({ priorOf }))), 'envelope_correlation_conflict');
});

test('a surface outside of its catalogue is refused, and one of another version by that', () => {
  const surface = (catalogVersion: string, component: object) =>
    error({
      type: 'ui.a2ui-surface',
      payload: { catalogVersion, surface: { components: [component] } },
    });
  const text = { component: 'text', text: 'hi' };
  assert.equal(accept(surface('0.9.1', text), receiver()).status, 'accepted');
  const script = { component: 'script', text: 'alert(1)' };
  assert.equal(reasonOf(accept(surface('0.9.1', script), receiver())), 'envelope_invalid');
  assert.equal(reasonOf(accept(surface('1.0.0', text), receiver())), 'unknown_schema_version');
});

test('a payload that is too large for an event is named by its size', () => {
  const note = (text: string) => {
    const outcome = accept(error({ type: 'vendor.a.b', payload: { text } }), receiver());
    const { events } = projected({ type: 'vendor.a.b', correlationId: 'c1' }, outcome, { nodeId: 'n' });
    return Object(events[0]?.payload.data).payload;
  };
  assert.deepEqual(note('short'), { text: 'short' });
  assert.deepEqual(note('x'.repeat(70_000)), { omitted: '70011 bytes' });
});

test('what a model leaves out is completed', () => {
  const origin = { runId: 'r', nodeId: 'n', envelopeId: 'new', at: 0 };
  const whole = completed({ type: 'error', payload: { code: 'x', message: 'y' } }, origin);
  const outcome = accept(whole, receiver());
  assert.ok(outcome.status === 'accepted');
  assert.equal(outcome.envelopeId, 'new');
  assert.equal((whole as { correlationId: string }).correlationId, 'r:n:new');
  assert.match(reasonOf(accept(completed('text', origin), receiver())), /^invalid_envelope_shape: /);
});
