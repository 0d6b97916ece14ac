import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GateFacts, modelGate } from './gate.ts';

const facts = (more: Partial<GateFacts> = {}): GateFacts => ({
  nodeId: 'n',
  active: { provider: 'small', model: 'mini' },
  substitutionSupported: true,
  capabilitiesOf: ({ provider }) => (provider === 'large' ? ['structured-output', 'reasoning'] : []),
  canUse: (provider) => provider !== 'closed',
  ...more,
});
const needs = { requiredModelCapabilities: ['structured-output'] };
const to = (provider: string) => ({ ...needs, fallbackModel: { provider, model: 'maxi' } });

test('a model that can is used, without a word', () => {
  assert.equal(modelGate({}, facts()).route, 'dispatch');
  const active = { provider: 'large', model: 'maxi' };
  assert.deepEqual(modelGate(needs, facts({ active })), { route: 'dispatch', model: active, event: null });
});

test('one that cannot is replaced by a fallback that can, and that is said', () => {
  const outcome = modelGate(to('large'), facts());
  assert.ok(outcome.route === 'substitute');
  assert.deepEqual(outcome.model, { provider: 'large', model: 'maxi' });
  assert.deepEqual(outcome.event.payload, {
    nodeId: 'n',
    originalProvider: 'small',
    originalModel: 'mini',
    fallbackProvider: 'large',
    fallbackModel: 'maxi',
    missingCapabilities: ['structured-output'],
  });
});

test('otherwise the node is refused, and whether a fallback was tried is said', () => {
  const tried = (requirements: Parameters<typeof modelGate>[0], more?: Partial<GateFacts>) => {
    const outcome = modelGate(requirements, facts(more));
    assert.ok(outcome.route === 'refuse');
    assert.equal(outcome.event.type, 'model.capability.insufficient');
    return outcome.fallbackAttempted;
  };
  assert.equal(tried(needs), false);
  assert.equal(tried(to('large'), { substitutionSupported: false }), false);
  assert.equal(tried(to('closed')), true);
  assert.equal(tried(to('other')), true);
});
