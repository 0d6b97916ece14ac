/**
 * Models of one tenant answer as fast as their sockets allow; another tenant hardly notices. With GANTRY_SOAK_ROUNDS in
 * every dialect, with more streams and more measurements: `npm run soak -- streams`.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type FloodServer, startFloodServer } from '../../../ai/src/testing/flood-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 0);
const STREAMS = ROUNDS > 0 ? [1, 20, 200] : [4];
const SAMPLES = ROUNDS > 0 ? 60 * ROUNDS : 15;
/** Beside other tests the machine is busy anyway. */
const MEDIAN_MS_MAX = ROUNDS > 0 ? 100 : 1_000;
/** Long answers are expected, and those that end too long are asked for again. */
const TOKENS = 2_000_000;
const ASK = { prompt: 'x', model: 'm', maxTokens: TOKENS };
const settings = { maxRetries: 20, backoffMs: 1 };
/** Endpoints without a key, and the ends of their addresses. */
const PROVIDERS = {
  lab: { family: 'openai-compatible', path: '/v1' },
  messages: { family: 'anthropic', path: '/v1' },
  responses: { family: 'openai', path: '/v1' },
  gemini: { family: 'google', path: '/v1beta' },
};
const only = process.env.GANTRY_FLOOD?.split(',');
const wanted = Object.keys(PROVIDERS).filter((id) => (only ? only.includes(id) : ROUNDS > 0 || id === 'lab'));

type Call = (method: string, path: string, body?: unknown) => Promise<Response>;

const caller =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return response;
  };

async function opened(t: TestContext): Promise<{ server: FloodServer; noisy: Call; quiet: Call }> {
  const server = await startFloodServer();
  t.after(() => server.close());
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const places = { dataDir: `${folder.path}/data`, workflowsDir: `${folder.path}/workflows` };
  await mkdir(places.workflowsDir);
  const tenants = ['noisy'];
  const endpoints = Object.entries(PROVIDERS).map(([id, { family, path }]) => ({
    id: `${id}-1`,
    family,
    url: server.origin + path,
    tenants,
    outputTokens: TOKENS,
  }));
  await writeFile(`${folder.path}/ai.json`, JSON.stringify({ endpoints }));
  const host = await startHostProcess({ ...places, env: { GANTRY_AI: `${folder.path}/ai.json` } });
  t.after(host.kill);
  const admin = caller(host.url, TEST_KEY);
  const tenant = async (name: string, flow: object): Promise<Call> => {
    const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'workflows:write'];
    const made = await admin('POST', '/v1/host/gantry/keys', { name, tenant: name, scopes });
    const { key } = (await made.json()) as { key: string };
    const call = caller(host.url, key);
    await call('POST', '/v1/host/gantry/workflows', flow);
    return call;
  };
  return {
    server,
    noisy: await tenant('noisy', workflow('ask', [node('a', 'core.ai.callPrompt', ASK, { settings })])),
    quiet: await tenant('quiet', workflow('quick', [node('a', 'core.noop')])),
  };
}

interface Times {
  readonly health: readonly number[];
  readonly create: readonly number[];
  /** Streams at once. */
  readonly open: number;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

async function measured(quiet: Call, server?: FloodServer): Promise<Times> {
  const times = { health: [] as number[], create: [] as number[], open: 0 };
  for (let sample = 0; sample < SAMPLES; sample++) {
    times.health.push(await timed(async () => (await quiet('GET', '/healthz')).text()));
    times.create.push(
      await timed(async () => (await quiet('POST', '/v1/runs', { workflowId: 'quick' })).text()),
    );
    times.open = Math.max(times.open, server?.open ?? 0);
    await delay(20);
  }
  return times;
}

const part = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const shown = (values: readonly number[]): string =>
  `${part(values, 0.5).toFixed(1)} ms (p90 ${part(values, 0.9).toFixed(1)}, longest ${part(values, 1).toFixed(1)})`;

/** So many streams at once, until it is stopped. */
async function flood(noisy: Call, provider: string, streams: number): Promise<() => Promise<void>> {
  const configurable = { ai: { provider: `${provider}-1` } };
  const runs = await Promise.all(
    Array.from({ length: streams }, async () => {
      const created = await noisy('POST', '/v1/runs', { workflowId: 'ask', configurable });
      return String(((await created.json()) as { runId: string }).runId);
    }),
  );
  return async () => {
    for (const runId of runs) await noisy('POST', `/v1/runs/${runId}/cancel`, {});
  };
}

test('streams at full speed of one tenant leave the host to others', async (t) => {
  const { server, noisy, quiet } = await opened(t);
  const idle = await measured(quiet);
  t.diagnostic(`idle: healthz ${shown(idle.health)}, create ${shown(idle.create)}`);
  for (const provider of wanted)
    for (const streams of STREAMS) {
      const stop = await flood(noisy, provider, streams);
      await delay(500);
      const { health, create, open } = await measured(quiet, server);
      assert.ok(open >= streams / 2, `${open} of ${streams} streams of ${provider} are open`);
      await stop();
      t.diagnostic(`${streams} of ${provider}: healthz ${shown(health)}, create ${shown(create)}`);
      for (const [what, times] of Object.entries({ health, create }))
        assert.ok(
          part(times, 0.5) < MEDIAN_MS_MAX,
          `${what} beside ${streams} of ${provider}: ${shown(times)}`,
        );
    }
});
