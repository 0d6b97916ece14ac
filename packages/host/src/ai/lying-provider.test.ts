/**
 * A provider that lies, in every dialect: each run ends in time and as it should, no other tenant notices, and the ledger
 * is never below what the server served. The short form has two lies of each kind; all are told by `npm run verify` and
 * `npm run soak -- lying-provider`.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { anthropicMessages } from '../../../ai/src/testing/anthropic.ts';
import { gemini } from '../../../ai/src/testing/gemini.ts';
import { endOf, LIE_KINDS, type LieEnd, SCHEMA, SERVED } from '../../../ai/src/testing/lie.ts';
import { LIES } from '../../../ai/src/testing/lies.ts';
import { type LyingServer, modelOf, startLyingServer } from '../../../ai/src/testing/lying-server.ts';
import { openaiChat } from '../../../ai/src/testing/openai-chat.ts';
import { openaiResponses } from '../../../ai/src/testing/openai-responses.ts';
import { isFullForm } from '../../../protocol/src/testing/full-form.ts';
import { type ApiTest, apiTest } from '../api/testing/api-test.ts';
import type { Settings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const DIALECTS = [anthropicMessages, openaiResponses, gemini, openaiChat];
const RUN_MS_MAX = 60_000;
const AT_ONCE = 16;
const PROMPT = 'Say where the boat goes, in about ten words.';
const ASK = { prompt: PROMPT, maxTokens: 300 };
const WORKFLOWS = [
  workflow('text', [node('a', 'core.ai.callPrompt', ASK)]),
  workflow('structured', [node('a', 'core.ai.structuredOutput', { ...ASK, outputSchema: SCHEMA })]),
  workflow('quick', [node('a', 'core.noop')]),
];
/** Longer than a loaded machine needs for the largest event. */
const SILENCE_S = isFullForm ? 3 : 2;
const KIND_SHARE = 2;

const lies = LIES.map((lie, index) => ({ lie, index })).filter(
  ({ lie: { kind }, index }) =>
    isFullForm || LIES.slice(0, index).filter((before) => before.kind === kind).length < KIND_SHARE,
);

interface Told {
  readonly what: string;
  readonly expected: LieEnd;
  readonly ended: string;
  readonly ms: number;
  readonly tokens: number;
  readonly served: number;
  readonly asked: number;
}

async function opened(t: TestContext, settings: Partial<Settings>) {
  const server = await startLyingServer();
  t.after(() => server.close());
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const ai = `${folder.path}/ai.json`;
  const families = { anthropic: 'anthropic', openai: 'openai', google: 'google' } as Record<string, string>;
  const endpoints = DIALECTS.map(({ name, base }) => ({
    id: `${name}-x`,
    url: server.origin + base,
    family: families[name] ?? 'openai-compatible',
  }));
  await writeFile(ai, JSON.stringify({ endpoints, silenceSeconds: SILENCE_S }));
  const api = await apiTest(t, { settings: { ...settings, ai }, workflows: WORKFLOWS });
  return { api, server };
}

/** Another tenant that creates runs all the while; answers the statuses that it saw. */
async function neighbour(api: ApiTest): Promise<() => Promise<readonly number[]>> {
  const scopes = ['runs:create', 'workflows:write'];
  const made = await api.post('/v1/host/gantry/keys', { name: 'b', tenant: 'beta', scopes });
  const headers = { authorization: `Bearer ${made.json().key}` };
  const registered = await api.post('/v1/host/gantry/workflows', WORKFLOWS[2], headers);
  assert.equal(registered.statusCode, 201, registered.body);
  const statuses: number[] = [];
  let isOver = false;
  const going = (async () => {
    for (; !isOver; await delay(10))
      statuses.push((await api.post('/v1/runs', { workflowId: 'quick' }, headers)).statusCode);
  })();
  return async () => {
    isOver = true;
    await going;
    return statuses;
  };
}

function endOfRun({ status, error }: Awaited<ReturnType<ApiTest['ended']>>): string {
  if (status === 'completed') return 'answer';
  const { code, message } = Object(error);
  if (code === 'provider_unavailable') return 'failure';
  return code === 'envelope_invalid' ? 'unfit' : `${status} ${code} ${message}`;
}

async function tell(api: ApiTest, server: LyingServer, index: number, at: number): Promise<Told> {
  const [lie, dialect] = [LIES[index]!, DIALECTS[at]!];
  const startedAt = performance.now();
  const configurable = { ai: { provider: `${dialect.name}-x`, model: modelOf(index) } };
  const runId = await api.start(lie.isStructured ? 'structured' : 'text', { configurable });
  const ended = endOfRun(await api.ended(runId));
  const asked = server.askedFor(dialect.name, index);
  return {
    what: `${dialect.name}: ${lie.kind}: ${lie.name}`,
    expected: endOf(lie, dialect),
    ended,
    ms: performance.now() - startedAt,
    tokens: (await api.host.services.ai.ledger.ofRun('default', runId)).tokens,
    served: asked * (lie.served ?? SERVED),
    asked,
  };
}

onEachDatabase(`${lies.length * DIALECTS.length} lies of a provider`, async (t, settings) => {
  assert.deepEqual(new Set(lies.map(({ lie }) => lie.kind)), new Set(LIE_KINDS));
  const { api, server } = await opened(t, settings);
  const stop = await neighbour(api);
  const all = lies.flatMap(({ index }) => DIALECTS.map((_, at) => ({ index, at })));
  const told: Told[] = [];
  const left = all.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const { index, at } of left) told.push(await tell(api, server, index, at));
    }),
  );
  const statuses = await stop();
  const wrong = told.filter(({ ended, expected }) => ended !== expected);
  assert.deepEqual(
    wrong.map(({ what, expected, ended }) => `${what}: ${expected}, but ${ended}`),
    [],
  );
  const late = told.filter(({ ms }) => ms > RUN_MS_MAX);
  assert.deepEqual(
    late.map(({ what, ms }) => `${what}: ${Math.round(ms)} ms`),
    [],
  );
  const unpaid = told.filter(({ tokens, served }) => tokens < served);
  assert.deepEqual(
    unpaid.map(({ what, tokens, served }) => `${what}: ${tokens} of ${served}`),
    [],
  );
  assert.deepEqual([...new Set(statuses)], [201]);
  const sum = (of: 'asked' | 'tokens' | 'served') => told.reduce((total, each) => total + each[of], 0);
  const longest = Math.max(...told.map(({ ms }) => ms)) / 1_000;
  t.diagnostic(
    `${told.length} runs, ${sum('asked')} requests, the longest ${longest.toFixed(1)} s; ${sum('tokens')} tokens counted, ` +
      `at least ${sum('served')} served; ${statuses.length} creates of another tenant`,
  );
});
