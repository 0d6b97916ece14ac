import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { RateGate, scopeGate } from './gates.ts';
import type { GatedCall } from './tool-calls.ts';

const callOf = (principal: string | undefined, more: Partial<GatedCall['tool']> = {}): GatedCall => ({
  tenant: 'acme',
  principal,
  tool: { name: 'crm.write', transport: 'native', args: () => null, ...more },
});

const refusalOf = (work: () => unknown): OpenwopError => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof OpenwopError);
    return error;
  }
  return assert.fail('should be refused');
};

test('only a principal that is known to have every scope may call', async () => {
  const gate = scopeGate(async (_, principal) => (principal === 'ada' ? ['crm:read', 'crm:write'] : null));
  await gate(callOf(undefined));
  await gate(callOf('ada', { requiredScopes: ['crm:write'] }));
  for (const [principal, scope] of [
    ['ada', 'crm:delete'],
    ['bob', 'crm:read'],
    [undefined, 'crm:read'],
  ] as const) {
    const refused = Promise.resolve(gate(callOf(principal, { requiredScopes: [scope] })));
    const details = { scope: 'tool', toolName: 'crm.write', requiredScopes: [scope] };
    await assert.rejects(refused, { code: 'forbidden', details });
  }
});

test('each principal has tokens of its own for each tool, which come back evenly', () => {
  let now = 0;
  const { gate } = new RateGate(2, () => now);
  const take = (principal = 'ada', name = 'a') => gate(callOf(principal, { name }));
  take();
  take();
  const { code, details, headers } = refusalOf(take);
  assert.deepEqual([code, details?.scope, headers['Retry-After']], ['rate_limited', 'tool', '30']);
  take('bob');
  take('ada', 'b');
  now += 29_000;
  assert.equal(refusalOf(take).headers['Retry-After'], '1');
  now += 1_000;
  take();
  refusalOf(take);
  now += 3_600_000;
  take();
  take();
  refusalOf(take);
});
