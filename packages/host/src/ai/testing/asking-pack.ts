/** A host with servers of each family behind it, and a pack whose code asks them. One for each file of tests. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { anthropicMessages } from '../../../../ai/src/testing/anthropic.ts';
import { gemini } from '../../../../ai/src/testing/gemini.ts';
import { type ModelServer, startModelServer } from '../../../../ai/src/testing/model-server.ts';
import { ollama } from '../../../../ai/src/testing/openai-chat.ts';
import { openaiResponses } from '../../../../ai/src/testing/openai-responses.ts';
import { sharedPackTest } from '../../packs/testing/pack-test.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { onePerFile } from '../../testing/one-per-file.ts';
import { keyVariables } from '../providers/key-offers.ts';

export const TYPE = 'vendor.acme.media';
const DIALECTS = { anthropic: anthropicMessages, openai: openaiResponses, gemini, lab: ollama };
const KEYS = {
  ANTHROPIC_API_KEY: 'sk-ant-canary-0001',
  OPENAI_API_KEY: 'sk-openai-canary-0002',
  GEMINI_API_KEY: 'gm-canary-0003',
};
/** The operator's own server. */
const LAB = {
  models: ['small'],
  embeddingModels: ['vectors'],
  rerankModels: ['ranks'],
  upscaleModels: ['larger'],
  price: { input: 1, output: 1, each: 0.5 },
};

type Servers = Record<keyof typeof DIALECTS, ModelServer>;

export const shared = onePerFile(async (t) => {
  const started = Object.entries(DIALECTS).map(async ([id, dialect]) => {
    const server = await startModelServer(dialect);
    t.after(() => server.close());
    return [id, server] as const;
  });
  const servers = Object.fromEntries(await Promise.all(started)) as Servers;
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const file = `${folder.path}/ai.json`;
  const endpoints = Object.entries(servers).map(([id, { baseUrl: url }]) => ({
    id,
    url,
    ...(id === 'lab' && LAB),
  }));
  await writeFile(file, JSON.stringify({ endpoints, videoWaitSeconds: 1 }));
  const api = await sharedPackTest(t, { settings: { ai: file, aiKeys: keyVariables(KEYS) } });
  return { api, servers };
});

/** Runs this body of a node. */
export async function asked(body: string, ai: JsonObject = { provider: 'scripted' }, retries = 0) {
  const { api, servers } = await shared();
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body } } });
  const settings = { maxRetries: retries, backoffMs: 1 };
  await api.registered(workflow('media', [node('a', TYPE, {}, { settings })]));
  const runId = await api.start('media', { configurable: { ai } });
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  return { api, servers, runId, run, events: events as RunEventDoc[] };
}

export const outputsOf = <T = JsonObject>({ run }: { run: JsonObject }): T => {
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  return run.outputs as T;
};
