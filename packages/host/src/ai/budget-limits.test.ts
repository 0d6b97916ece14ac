/** What the operator allows: for a run, and for a workspace and a day in all processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, ownerOf, type RunEventDoc } from '@gantry/protocol';
import { openPostgres } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { payloadsOf, typesOf } from '../testing/run-events.ts';
import { type TestHost, testHost } from '../testing/test-host.ts';

const ask = { provider: 'scripted', prompt: 'Hello', maxTokens: 256 };
const WORKFLOWS = [
  workflow('ask', [node('a', 'core.ai.callPrompt', ask)]),
  workflow('asks', [node('a', 'core.ai.callPrompt', ask), node('b', 'core.ai.callPrompt', ask)]),
];
const USED = 200;
const script = [{ text: 'Hi', usage: { inputTokens: 20, outputTokens: 180 } }];

async function start({ request }: TestHost, workflowId: string, more: JsonObject = {}): Promise<string> {
  const payload = JSON.stringify({ workflowId, configurable: { ai: { script }, ...more } });
  const headers = { 'content-type': 'application/json' };
  const created = await request({ method: 'POST', url: '/v1/runs', payload, headers });
  assert.equal(created.statusCode, 201, created.body);
  return created.json().runId;
}

async function endOf({ request }: TestHost, runId: string): Promise<RunEventDoc[]> {
  for (let last = ''; ; ) {
    const url = `/v1/runs/${runId}/events/poll?timeout=60${last}`;
    const { isTerminal, lastEventSeq } = (await request({ method: 'GET', url })).json();
    if (isTerminal)
      return (await request({ method: 'GET', url: `/v1/runs/${runId}/events/poll?timeout=1` })).json().events;
    last = `&lastSequence=${lastEventSeq}`;
  }
}

const errorOf = (events: readonly RunEventDoc[]): JsonObject | undefined =>
  payloadsOf(events, 'run.failed')[0]?.error as JsonObject | undefined;

test('processes share what a workspace may use in a day', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const limits = { budgetTokensPerDay: 5 * USED + 100, budgetMaxTokens: 2 * USED };
  const settings = { databaseUrl: database.url, masterKey: 'm'.repeat(64), ...limits };
  const opened = async (more = {}) =>
    testHost(t, { settings, store: await openPostgres({ url: database.url }), ...more });
  const hosts = [await opened({ workflows: WORKFLOWS }), await opened()];
  t.after(database.drop);
  const runs = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const host = hosts[n % 2]!;
      return endOf(host, await start(host, 'ask', { budget: { onExhaustion: 'interrupt' } }));
    }),
  );
  const failed = runs.filter((events) => errorOf(events));
  assert.ok(failed.length >= 3 && failed.length < 8, `${failed.length} of 8 failed`);
  for (const events of failed) {
    assert.equal(errorOf(events)?.code, 'budget_exhausted');
    assert.match(String(errorOf(events)?.message), /today.*GANTRY_BUDGET_TOKENS_PER_DAY/);
    assert.deepEqual(typesOf(events).slice(-4, -1), ['budget.exhausted', 'cap.breached', 'node.failed']);
    assert.equal(payloadsOf(events, 'cap.breached')[0]?.limit, limits.budgetTokensPerDay);
  }
  const { ledger } = hosts[0]!.host.services.ai;
  const { tokens } = await ledger.ofProject({ owner: ownerOf({ tenant: 'default' }), at: Date.now() });
  assert.equal(tokens, (8 - failed.length) * USED);
});

test('no run and no person passes the ceiling of the host', async (t) => {
  const host = await testHost(t, { settings: { budgetMaxTokens: 400 }, workflows: WORKFLOWS });
  const { limits } = (await host.request({ method: 'GET', url: '/.well-known/openwop' })).json();
  assert.equal(limits.maxBudgetTokens, 400);
  const plain = await endOf(host, await start(host, 'asks'));
  assert.deepEqual(payloadsOf(plain, 'budget.reserved'), [
    { effectiveBudget: { maxTokens: 400 }, scope: 'project' },
  ]);
  assert.equal(errorOf(plain)?.code, 'budget_exhausted');
  const asking = await start(host, 'asks', { budget: { maxTokens: 9_000, onExhaustion: 'interrupt' } });
  const url = `/v1/runs/${asking}/interrupts/b`;
  for (let last = ''; (await host.request({ method: 'GET', url })).statusCode !== 200; ) {
    const poll = `/v1/runs/${asking}/events/poll?timeout=60${last}`;
    last = `&lastSequence=${(await host.request({ method: 'GET', url: poll })).json().lastEventSeq}`;
  }
  const payload = JSON.stringify({ resumeValue: { action: 'accept' } });
  const headers = { 'content-type': 'application/json' };
  const answer = await host.request({ method: 'POST', url, payload, headers });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.match(String(errorOf(await endOf(host, asking))?.message), /no more than 400/);
});

test('a host that only advises tells everything and stops nothing', async (t) => {
  const settings = { budgetEnforce: 'advisory', budgetTokensPerDay: 1, budgetMaxTokens: 300 } as const;
  const host = await testHost(t, { settings, workflows: WORKFLOWS });
  const events = await endOf(host, await start(host, 'asks', { budget: { thresholdPercent: 50 } }));
  assert.equal(events.at(-1)?.type, 'run.completed');
  assert.deepEqual(
    typesOf(events).filter((type) => /^(budget|cap)\./.test(type)),
    ['budget.reserved', 'budget.consumed', 'budget.threshold.crossed', 'budget.consumed', 'budget.exhausted'],
  );
});
