/** Pack code that searches, ranks and enlarges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, plainPng } from '@gantry/ai';
import type { JsonObject } from '@gantry/protocol';
import { payloadsOf } from '../testing/run-events.ts';
import { asked, outputsOf, shared } from './testing/asking-pack.ts';

test('documents are ranked once, by an endpoint or by the script', async () => {
  const { servers } = await shared();
  const body = `
    const documents = ['tax law', 'the boat', 'a red boat'];
    const tell = (error) => error.code + ' ' + error.message;
    const script = await ctx.callReranker({ query: 'red boat', documents, topN: 2 });
    const lab = await ctx.aiProviders.callReranker({ provider: 'lab', query: 'q', documents });
    const refused = await ctx.callReranker({ provider: 'openai', query: 'q', documents }).catch(tell);
    if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
    return { script, lab, refused };`;
  const sent = servers.lab.requests.length;
  const { run, events, api, runId } = await asked(body, { provider: 'scripted' }, 1);
  const { script, lab, refused } = outputsOf<Record<string, { results: JsonObject[] }>>({ run });
  assert.deepEqual(
    script!.results.map(({ index, document }) => [index, document]),
    [
      [2, 'a red boat'],
      [1, 'the boat'],
    ],
  );
  assert.deepEqual(lab!.results[0], { index: 2, score: 0.1, document: 'a red boat' });
  assert.match(
    String(refused),
    /^host_capability_missing .*no models for rerank\. These have: lab, scripted/,
  );
  assert.equal(servers.lab.requests.length, sent + 1);
  const [, usage] = payloadsOf(events, 'provider.usage');
  const { provider, model, inputTokens, costEstimateUsd } = usage!;
  assert.deepEqual([provider, model, inputTokens, costEstimateUsd], ['lab', 'ranks', 9, 0.500009]);
  const replay = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal((await api.ended(replay.json().runId)).status, 'completed');
  assert.equal(servers.lab.requests.length, sent + 1);
});

test('an image becomes larger, or it is a failure', async () => {
  const { servers } = await shared();
  const body = `
    const tell = (error) => error.code + ' ' + error.message;
    const imageBase64 = '${plainPng(3, 2, Buffer.from([9, 9, 9])).toString('base64')}';
    const script = await ctx.callImageUpscaler({ imageBase64, scale: 4 });
    const lab = await ctx.aiProviders.callImageUpscaler({ provider: 'lab', imageBase64 });
    const refused = [
      await ctx.callImageUpscaler({ provider: 'openai', imageBase64 }).catch(tell),
      await ctx.callImageUpscaler({ imageBase64: 'AAAA' }).catch(tell),
      await ctx.callImageUpscaler({ imageBase64, scale: 3 }).catch(tell),
    ];
    return { script, lab, refused };`;
  const sizeOf = ({ contentBase64 }: JsonObject) => {
    const { width, height, mimeType } = imageOf(Buffer.from(String(contentBase64), 'base64'));
    return [width, height, mimeType];
  };
  servers.lab.media.enlarges = true;
  const { run, events } = await asked(body);
  const { script, lab, refused } = outputsOf<{ script: JsonObject; lab: JsonObject; refused: string[] }>({
    run,
  });
  assert.deepEqual(
    [sizeOf(script), sizeOf(lab)],
    [
      [12, 8, 'image/png'],
      [6, 4, 'image/png'],
    ],
  );
  assert.deepEqual(
    refused.map((text) => text.split(' ')[0]),
    ['host_capability_missing', 'validation_error', 'validation_error'],
  );
  assert.equal(payloadsOf(events, 'provider.usage').length, 2);
  servers.lab.media.enlarges = false;
  const same = `
    const imageBase64 = '${plainPng(3, 2, Buffer.from([9, 9, 9])).toString('base64')}';
    return { told: await ctx.callImageUpscaler({ imageBase64 }).catch((error) => error.code + error.message) };`;
  assert.match(String(outputsOf(await asked(same, {})).told), /^image_generation_failed.*not larger/);
});

const SOURCES = [
  { url: 'https://a.example/1', title: 'First', snippet: 'It says so.' },
  { url: 'https://c.example/', title: 'not.b.example' },
  { url: 'https://vertexaisearch.cloud.google.com/r', title: 'a.example' },
  { url: 'https://www.b.example/2', title: 'Second' },
  { url: 'https://www.b.example/3' },
];
const dollars = (cost: unknown): string => Number(cost).toFixed(4);

/** With what one search costs there, and the 1,000 tokens of the answer. */
const MODELS = {
  anthropic: ['claude-sonnet-5-5', 0.02],
  openai: ['gpt-6.1-sol', 0.02],
  gemini: ['gemini-2.5-flash', 0.0375],
} as const;

test('each family searches the web, once', async () => {
  const { servers } = await shared();
  const usage = { inputTokens: 1, outputTokens: 1_000 };
  for (const [id, [model]] of Object.entries(MODELS)) {
    const server = servers[id as keyof typeof MODELS];
    // The first try fails within the answer, so a second is made
    server.play(model, [
      { text: 'Hm.', sources: null, fault: 'cut' },
      { text: 'Pages.', sources: SOURCES, usage },
    ]);
  }
  const body = `
    const found = {};
    for (const provider of ['anthropic', 'openai', 'gemini'])
      found[provider] = await ctx.webSearch({ provider, query: 'rivers', siteFilter: ['b.example'], engine: 'brave', maxResults: 1 });
    if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
    return found;`;
  const sent = () => Object.values(servers).reduce((sum, { requests }) => sum + requests.length, 0);
  const before = sent();
  const { run, events, api, runId } = await asked(body, {}, 1);
  for (const [engine, found] of Object.entries(outputsOf({ run })))
    assert.deepEqual(found, {
      results: [{ url: 'https://www.b.example/2', title: 'Second', rank: 1 }],
      engine,
      query: 'rivers',
    });
  assert.equal(sent(), before + 6);
  assert.deepEqual(
    payloadsOf(events, 'provider.usage').map(({ model, costEstimateUsd: cost }) => [model, dollars(cost)]),
    Object.values(MODELS).map(([model, cost]) => [model, dollars(cost)]),
  );
  assert.equal(payloadsOf(events, 'output.chunk').length, 0);
  const replay = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal((await api.ended(replay.json().runId)).status, 'completed');
  assert.equal(sent(), before + 6);
});

test('the script finds pages too, and who cannot search says so', async () => {
  const { api, servers } = await shared();
  servers.openai.play('gpt-6.1-sol', [{ text: 'From memory.' }]);
  const body = `
    const tell = (error) => error.code + ' ' + error.message;
    const { results, engine } = await ctx.aiProviders.webSearch({ query: 'red boats', maxResults: 2 });
    const refused = [
      await ctx.webSearch({ provider: 'openai', query: 'x' }).catch(tell),
      await ctx.webSearch({ provider: 'lab', query: 'x' }).catch(tell),
      await ctx.webSearch({ query: 'x', siteFilter: ['https://b.example/'] }).catch(tell),
    ];
    return { results, engine, refused };`;
  const { results, engine, refused } = outputsOf<Record<string, JsonObject[]>>(await asked(body));
  assert.deepEqual([engine, results!.map(({ rank }) => rank)], ['scripted', [1, 2]]);
  assert.match(String(results![0]!.url), /^https:\/\/example\.com\//);
  const [memory, lab, site] = refused!.map(String);
  assert.match(memory!, /^provider_unavailable .*without a search/);
  assert.match(lab!, /^host_capability_missing .*These have: anthropic, openai, gemini, scripted/);
  assert.match(site!, /^validation_error .*siteFilter/);
  const { aiProviders, webSearch } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual([aiProviders.webSearch, webSearch], ['supported', { supported: true }]);
});
