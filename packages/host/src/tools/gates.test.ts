import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { CommitPipeline, type CommitResult, openSqlite, type Store } from '@gantry/store';
import type { CallRecord } from '@gantry/surfaces';
import { createRedactions } from '../redaction/redactions.ts';
import { InvocationLog } from '../runtime/invocation-log.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { type GatedCall, rateGate, scopeGate, type ToolHook } from './gates.ts';
import { ToolCalls } from './tool-calls.ts';
import { readToolRule, ruleOf } from './tool-rules.ts';

const callOf = (principal: string | undefined, more: Partial<GatedCall['tool']> = {}): GatedCall => ({
  tenant: 'acme',
  principal,
  tool: { name: 'crm.write', transport: 'native', args: () => null, shown: () => null, ...more },
});

async function openedStore(t: TestContext): Promise<Store> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  t.after(() => store.close());
  return store;
}

test('only a principal that is known to have every scope may call', async () => {
  const { admit } = scopeGate(async (_, principal) =>
    principal === 'ada' ? ['crm:read', 'crm:write'] : null,
  );
  await admit?.(callOf(undefined));
  await admit?.(callOf('ada', { requiredScopes: ['crm:write'] }));
  for (const [principal, scope] of [
    ['ada', 'crm:delete'],
    ['bob', 'crm:read'],
    [undefined, 'crm:read'],
  ] as const) {
    const refused = Promise.resolve(admit?.(callOf(principal, { requiredScopes: [scope] })));
    const details = { scope: 'tool', toolName: 'crm.write', requiredScopes: [scope] };
    await assert.rejects(refused, { code: 'forbidden', details });
  }
});

test('each principal has tokens of its own for each tool in all processes, which come back evenly', async (t) => {
  const store = await openedStore(t);
  let now = 1_700_000_000_000;
  const gates = [0, 1].map(() => rateGate(2, store, () => now));
  const take = async (gate = 0, principal = 'ada', name = 'a'): Promise<CommitResult | undefined> =>
    (await store.commit([gates[gate]!.reserve!(callOf(principal, { name }))]))[0];
  const refused = async (gate: number, seconds: string): Promise<void> => {
    assert.deepEqual(await take(gate), { won: false, write: 0, reason: 'full' });
    const { code, details, headers } = await gates[gate]!.full!(callOf('ada', { name: 'a' }));
    assert.deepEqual([code, details?.scope, headers['Retry-After']], ['rate_limited', 'tool', seconds]);
  };
  assert.ok((await take(0))?.won && (await take(1))?.won);
  await refused(0, '30');
  await refused(1, '30');
  assert.ok((await take(0, 'bob'))?.won && (await take(1, 'ada', 'b'))?.won);
  now += 29_000;
  await refused(1, '1');
  now += 1_000;
  assert.ok((await take(0))?.won);
  await refused(1, '30');
  now += 3_600_000;
  assert.ok((await take(0))?.won && (await take(1))?.won);
  await refused(0, '30');
});

test('a rule of the tenant counts more than one for all, and what is misspelt is refused', () => {
  const read = (text: string) => readToolRule(text, ['http.safeFetch', 'fetch']);
  const rule = ruleOf(['fetch=forbid', 'fetch@acme=approve-writes'].map(read));
  assert.deepEqual(
    [rule('acme', 'fetch'), rule('other', 'fetch'), rule('acme', 'http.safeFetch')],
    ['approve-writes', 'forbid', 'allow'],
  );
  assert.throws(() => read('fecth=forbid'), /is not a tool. Did you mean fetch\?/);
  assert.throws(() => read('fetch=aprove'), /has no rule. Did you mean approve\?/);
  assert.throws(() => read('fetch'), /an entry is such as http.safeFetch=approve-writes/);
});

test('a budget is reserved with the claim, settled with the record, and refuses what it does not cover', async (t) => {
  const store = await openedStore(t);
  const key = { kind: 'budget', tenant: 'acme', id: 'run-1' };
  const budget: ToolHook = {
    reserve: () => [{ kind: 'adjust', key, delta: 10, max: 20 }],
    full: () => new OpenwopError('budget_exhausted'),
    settle: (_, { ok }) => [{ kind: 'adjust', key, delta: ok ? -4 : -10 }],
  };
  const log = new InvocationLog(new CommitPipeline(store), store.records, Date.now);
  const tools = new ToolCalls({
    hooks: [budget],
    ruleOf: () => 'allow',
    redactions: createRedactions(),
    now: Date.now,
  });
  const acted: number[] = [];
  const perform = async (ordinal: number) => {
    const place = { tenant: 'acme', runId: 'run-1', nodeId: 'a', ordinal, providerKey: 'crm' };
    const about = { method: 'crm.write', fingerprint: '' };
    const call = { ...place, ...about, idempotent: false, tool: callOf('ada').tool };
    return tools.perform(
      { log, principal: 'ada', tell: undefined },
      call,
      async (admit): Promise<CallRecord> => {
        const refusal = await admit().then(
          () => undefined,
          ({ code, message }: OpenwopError) => ({ code, message }),
        );
        if (refusal) return { ...about, ok: false, retriable: false, error: refusal };
        acted.push(await store.entries.counter(key));
        return { ...about, ok: true, value: ordinal };
      },
    );
  };
  const codeOf = async (ordinal: number) => {
    const { record } = ((await perform(ordinal)) as { outputs: { record: CallRecord } }).outputs;
    return record.ok ? record.value : record.error.code;
  };
  assert.deepEqual([await codeOf(0), await codeOf(1), await codeOf(2)], [0, 1, 'budget_exhausted']);
  assert.deepEqual(acted, [10, 16]);
  assert.equal(await store.entries.counter(key), 12);
  assert.deepEqual([await codeOf(1), await codeOf(2)], [1, 'budget_exhausted']);
  assert.equal(await store.entries.counter(key), 12);
});
