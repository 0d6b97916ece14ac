/** What calls of models cost that end without an answer: a request that was sent stays spent. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type ModelServer, startModelServer } from '../../../ai/src/testing/model-server.ts';
import { openaiChat } from '../../../ai/src/testing/openai-chat.ts';
import { type ApiTest, apiTest } from '../api/testing/api-test.ts';
import type { Settings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const PROMPT = 'words of a prompt '.repeat(2_000);
/** Fewer than any tokenizer counts. */
const INPUT_TOKENS = PROMPT.length / 6;
const ASK = { provider: 'lab', model: 'small', maxTokens: 300 };
const TIMEOUT_MS = 2_000;
const ask = node('ask', 'core.ai.callPrompt', { ...ASK, prompt: PROMPT });
const brief = node('ask', 'core.ai.callPrompt', { ...ASK, prompt: 'Hello' });
const WORKFLOWS = [
  workflow('ask', [ask]),
  workflow('brief', [brief]),
  workflow('limited', [{ ...ask, settings: { timeoutMs: TIMEOUT_MS, maxRetries: 0 } }]),
  workflow('siblings', [ask, node('gate', 'core.approvalGate', { title: 'Go on?' })], { edges: [] }),
];

interface Place {
  readonly api: ApiTest;
  readonly server: ModelServer;
}

async function opened(t: TestContext, settings: Partial<Settings>): Promise<Place> {
  const server = await startModelServer(openaiChat);
  t.after(() => server.close());
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const ai = `${folder.path}/ai.json`;
  await writeFile(ai, JSON.stringify({ endpoints: [{ id: 'lab', url: server.baseUrl, models: ['small'] }] }));
  return { server, api: await apiTest(t, { settings: { ...settings, ai }, workflows: WORKFLOWS }) };
}

/** Starts a run whose answer stays at its half. */
async function stuck({ api, server }: Place, workflowId = 'ask', turn = {}): Promise<string> {
  server.play('small', [{ ...turn, fault: 'silent' }]);
  const asked = server.asked();
  const runId = await api.start(workflowId);
  await asked;
  return runId;
}

/** What the run is charged once its call has ended. */
async function charged({ api }: Place, runId: string): Promise<number> {
  const { ledger } = api.host.services.ai;
  while ((await ledger.held('default', runId)).length > 0) await delay(10);
  return (await ledger.ofRun('default', runId)).tokens;
}

onEachDatabase('a call that is cut off before its text stays spent', async (t, settings) => {
  const place = await opened(t, settings);
  const { api } = place;
  const turns = {
    silence: {},
    reasoning: { reasoning: 'one two three four' },
    'arguments of a tool call': { toolCalls: [{ name: 'look', arguments: { where: 'here' } }] },
  };
  for (const [what, turn] of Object.entries(turns)) {
    const runId = await stuck(place, 'ask', turn);
    assert.equal((await api.post(`/v1/runs/${runId}:cancel`)).statusCode, 200);
    assert.ok((await charged(place, runId)) >= INPUT_TOKENS, what);
  }
  const limited = await stuck(place, 'limited');
  assert.equal((await api.ended(limited)).status, 'failed');
  assert.ok((await charged(place, limited)) >= INPUT_TOKENS, 'its own time limit');
  const siblings = await stuck(place, 'siblings');
  const answer = await api.post(`/v1/runs/${siblings}/interrupts/gate`, {
    resumeValue: { action: 'reject' },
  });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal((await api.ended(siblings)).status, 'failed');
  assert.ok((await charged(place, siblings)) >= INPUT_TOKENS, 'a sibling that fails');
});

onEachDatabase('nobody passes the limit of a day by cancelling silent calls', async (t, settings) => {
  const limit = 1_000;
  const place = await opened(t, { ...settings, budgetTokensPerDay: limit });
  const { api, server } = place;
  for (let run = 0; run < 6; run++) {
    server.play('small', [{ fault: 'silent' }]);
    const asked = server.asked();
    const runId = await api.start('brief');
    const refused = await Promise.race([asked, api.ended(runId)]);
    if (refused) assert.equal(Object(refused.error).code, 'budget_exhausted');
    else await api.post(`/v1/runs/${runId}:cancel`);
    await charged(place, runId);
  }
  assert.ok(server.requests.length <= limit / ASK.maxTokens, `${server.requests.length} requests were sent`);
});
