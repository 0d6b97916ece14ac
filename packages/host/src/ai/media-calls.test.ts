/** Pack code that asks models for vectors and media. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { packArchive } from '../packs/testing/pack-archive.ts';
import { node, workflow } from '../testing/definitions.ts';
import { payloadsOf } from '../testing/run-events.ts';
import { asked, outputsOf, shared } from './testing/asking-pack.ts';

test('embeddings in every spelling, the same each time', async () => {
  const body = `
    const near = await ctx.callEmbeddings({ values: ['a red boat', 'the red boat', 'tax law'], dimensions: 64 });
    const mode = await ctx.callAI({ embeddingMode: true, messages: [{ role: 'user', content: 'a red boat' }], dimensions: 64 });
    const member = await ctx.callAI.embeddings({ text: 'a red boat' });
    const nested = await ctx.aiProviders.callEmbeddings({ input: ['x', 'y'] });
    const chat = await ctx.callAI({ embeddingMode: false, messages: [{ role: 'user', content: 'Hi' }] });
    const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
    const [one, two, three] = near.embeddings;
    return { same: dot(one, mode.embedding), like: dot(one, two), unlike: dot(one, three), member: member.embedding.length,
      nested: nested.embeddings.length, usage: near.usage, model: near.model, dimensions: mode.dimensions, chat: chat.text };`;
  const told = await asked(body);
  const { same, like, unlike, ...rest } = outputsOf<Record<string, number>>(told);
  assert.ok(Math.abs(same! - 1) < 1e-9 && like! > 0.5 && Math.abs(unlike!) < 0.5, JSON.stringify(told.run));
  assert.deepEqual(rest, {
    member: 256,
    nested: 2,
    usage: { inputTokens: 8, totalTokens: 8 },
    model: 'echo',
    dimensions: 64,
    chat: 'Hi',
  });
  assert.equal(payloadsOf(told.events, 'provider.usage').length, 5);
});

test('each family embeds; a run that chats elsewhere gets a provider that can', async () => {
  const body = `
    const from = async (ask) => (await ctx.callEmbeddings({ values: ['abcd'], ...ask })).provider;
    const named = [];
    for (const provider of ['openai', 'gemini', 'lab']) named.push(await from({ provider }));
    const code = await from({ provider: 'anthropic' }).catch((error) => error.code + ' ' + error.message);
    return { named, chosen: await from({}), code };`;
  const { run, servers, events, api, runId } = await asked(body, { provider: 'anthropic' });
  const { named, chosen, code } = outputsOf({ run });
  assert.deepEqual([named, chosen], [['openai', 'gemini', 'lab'], 'openai']);
  assert.match(String(code), /^provider_not_supported .*openai, gemini/);
  assert.equal(servers.openai.requests.at(-1)?.body.model, 'text-embedding-3-small');
  assert.equal(servers.lab.requests.at(-1)?.body.model, 'vectors');
  const spent = payloadsOf(events, 'provider.usage').reduce(
    (sum, usage) => sum + Number(usage.totalTokens),
    0,
  );
  assert.equal((await api.host.services.ai.ledger.ofRun('default', runId)).tokens, spent);
  assert.doesNotMatch(JSON.stringify([run, events]), /canary/);
  const { aiProviders } = (await api.get('/.well-known/openwop')).json();
  assert.equal(aiProviders.embeddings, 'supported');
});

interface Picture {
  readonly url: string;
  readonly mediaRef: string;
  readonly mimeType: string;
  readonly width: number;
}

interface Pictured {
  readonly made: { readonly images: readonly Picture[]; readonly filteredCount: number };
  readonly again: JsonObject;
  readonly edited: JsonObject;
}

const fetched = async (url: string) => {
  const { api } = await shared();
  return api.request({
    method: 'GET',
    url: new URL(url, 'http://host').pathname,
    headers: { authorization: '' },
  });
};

test('images are kept with the record of their call, and go with their run', async () => {
  const body = `
    const made = await ctx.callImageGenerator({ prompt: 'a red boat', width: 320, height: 200, count: 2, seed: 7, brandColors: ['#f00'] });
    const again = await ctx.aiProviders.callImageGenerator({ prompt: 'a red boat', size: '64x64', n: 1 });
    const edited = await ctx.callImageEditor({ imageBase64: 'iVBORw0KGgo=', prompt: 'a hat', op: 'edit' });
    if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
    return { made, again, edited };`;
  const { run, runId, api, events } = await asked(body, undefined, 1);
  const { made, again, edited } = outputsOf<Pictured>({ run });
  const { images } = made;
  assert.deepEqual([images.length, made.filteredCount, images[0]!.width], [2, 0, 320]);
  assert.deepEqual(Object.keys(again).sort(), ['images', 'totalTimeMs', 'usage']);
  assert.match(String(edited.contentBase64), /^iVBORw0KGgo/);
  assert.equal(payloadsOf(events, 'provider.usage').length, 3);
  const answer = await fetched(images[0]!.url);
  assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/png']);
  assert.deepEqual(answer.rawPayload.subarray(1, 4), Buffer.from('PNG'));
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  const { artifacts } = (await api.get(`/v1/host/gantry/runs/${runId}/artifacts`)).json();
  const told = payloadsOf(events, 'artifact.created').map(({ artifactId }) => String(artifactId));
  assert.deepEqual(artifacts.map(({ artifactId }: JsonObject) => artifactId).sort(), told.toSorted());
  const raw = await api.get(`/v1/runs/${runId}/artifacts/${told[0]}?format=raw`);
  assert.deepEqual(
    [raw.rawPayload.length, raw.headers['content-type']],
    [answer.rawPayload.length, 'image/png'],
  );
  assert.equal(raw.headers['content-disposition'], 'attachment');
  assert.equal((await fetched(images[0]!.url.replace('/default/', '/acme/'))).statusCode, 404);
  const gone = await api.request({ method: 'DELETE', url: `/v1/host/gantry/runs/${runId}` });
  assert.equal(gone.statusCode, 200, gone.body);
  assert.equal((await fetched(images[0]!.url)).statusCode, 404);
});

test('images of providers, withheld ones and failures', async () => {
  const { servers } = await shared();
  const body = `
    const tell = (error) => error.code + ' ' + JSON.stringify(error.details ?? {});
    const ask = { prompt: 'a cat', width: 1600, height: 900, negativePrompt: 'dogs', count: 2 };
    const made = await ctx.callImageGenerator({ ...ask, provider: 'openai' });
    const look = { role: 'user', content: [{ type: 'text', text: 'See' }, { type: 'image', mediaRef: made.images[0].mediaRef }] };
    const seen = await ctx.callAI({ provider: 'openai', model: 'm', messages: [look] });
    const nobody = await ctx.callAI({ provider: 'openai', messages: [{ ...look, content: [{ type: 'image', mediaRef: 'media:x' }] }] }).catch(tell);
    const edited = await ctx.callImageEditor({ provider: 'gemini', imageBase64: 'iVBORw0KGgo=', op: 'background-remove' });
    const none = await ctx.callImageGenerator({ prompt: 'a hat', provider: 'gemini' }).catch(tell);
    const lab = await ctx.callImageGenerator({ prompt: 'a hat', provider: 'lab' }).catch(tell);
    return { made, seen: seen.text, nobody, type: edited.contentType, none, lab };`;
  servers.openai.play('m', [{ text: 'A pixel.' }]);
  servers.gemini.media.withheld = 0;
  const sent = servers.openai.requests.length;
  const { run, events } = await asked(body, {});
  const { made, ...rest } = outputsOf<Record<string, JsonObject>>({ run });
  assert.deepEqual(rest, {
    seen: 'A pixel.',
    nobody: rest.nobody,
    type: 'image/png',
    none: rest.none,
    lab: rest.lab,
  });
  assert.match(String(rest.nobody), /^validation_error/);
  assert.match(String(rest.lab), /^provider_not_supported/);
  assert.equal((made!.images as JsonObject[]).length, 2);
  const [drawn, seen] = servers.openai.requests.slice(sent);
  assert.equal(drawn?.body.size, '1536x1024');
  assert.match(String(drawn?.body.prompt), /Avoid: dogs/);
  assert.match(JSON.stringify(seen?.body), /data:image\/png;base64,iVBOR/);
  assert.deepEqual(payloadsOf(events, 'provider.usage')[0], {
    provider: 'openai',
    model: 'gpt-image-1',
    inputTokens: 5,
    outputTokens: 7,
    totalTokens: 12,
    nodeId: 'a',
    costEstimateUsd: 0.00033,
    currency: 'USD',
  });
});

test('what is withheld or broken has the codes of the seed, and what broke stays paid for', async () => {
  const body = `
    const codes = [];
    for (let at = 0; at < 3; at++)
      try { await ctx.callImageGenerator({ prompt: 'x', width: 8, height: 8, count: 2 }); codes.push('ok'); }
      catch (error) { codes.push([error.code, error.retryable, error.details?.filteredCount]); }
    return { codes };`;
  const script = [{ fault: 'refusal' }, { fault: '400' }, { fault: 'cut' }, {}];
  const { run, api, runId } = await asked(body, { provider: 'scripted', script });
  const { codes } = outputsOf<{ codes: JsonObject[] }>({ run });
  assert.deepEqual(codes, [
    ['image_safety_filtered_all', false, 2],
    ['image_generation_failed', false, null],
    'ok',
  ]);
  const held = await api.host.services.ai.ledger.held('default', runId);
  assert.deepEqual(
    held.map(({ tokens }) => tokens),
    [2 * 6_500 + 1],
  );
});

test('speech goes both ways, and what nobody does has its code', async () => {
  const body = `
    const tell = (error) => error.code + ' ' + error.message;
    const heard = [];
    for (const provider of ['scripted', 'openai']) {
      const said = await ctx.callTextToSpeech({ provider, text: 'Good morning', voice: 'alloy' });
      heard.push([said.contentType, await ctx.callSpeechToText({ provider, ...said, language: 'en' })]);
    }
    const kept = await ctx.aiProviders.callSpeechSynthesizer({ provider: 'gemini', text: 'Hello', voiceId: 'Kore' });
    const refused = [
      await ctx.callSpeechSynthesizer({ provider: 'scripted', text: 'Hi', voiceId: 'x', stream: true }).catch(tell),
      await ctx.callSpeechSynthesizer({ provider: 'anthropic', text: 'Hi', voiceId: 'x' }).catch(tell),
      await ctx.callSpeechToText({ provider: 'gemini', audioBase64: 'AAAA' }).catch(tell),
      await ctx.callTranscriber({ audio: { streamRef: 'stream:mic' } }).catch(tell),
      await ctx.callSpeechToText({ provider: 'openai', audioBase64: 'no base64' }).catch(tell),
    ];
    return { heard, kept, refused };`;
  const { run, events } = await asked(body, {});
  const { heard, kept, refused } = outputsOf<{ heard: unknown; kept: { audio: Picture }; refused: string[] }>(
    { run },
  );
  const segment = (text: string, end: number) => ({ text, segments: [{ text, start: 0, end }] });
  assert.deepEqual(heard, [
    ['audio/wav', segment('Good morning', 0.6)],
    ['audio/mpeg', segment('Hello there.', 1.5)],
  ]);
  const { url, mimeType, ...rest } = kept.audio;
  assert.deepEqual([mimeType, 'base64' in rest], ['audio/wav', false]);
  assert.equal((await fetched(url)).headers['content-type'], 'audio/wav');
  assert.deepEqual(
    refused.map((text) => text.split(' ')[0]),
    [
      'speech_synthesis_failed',
      'speech_synthesis_unsupported',
      'transcription_unsupported',
      'transcription_unsupported',
      'validation_error',
    ],
  );
  assert.equal(payloadsOf(events, 'provider.usage').length, 5);
});

const STARTS = /:predictLongRunning$/;

test('a video is begun once and waited for, also by the next attempt of its node', async () => {
  const { servers } = await shared();
  const body = `
    const ask = { prompt: 'waves', width: 1920, height: 1080, durationSeconds: 8 };
    const made = await ctx.callVideoGenerator({ ...ask, provider: 'gemini' });
    const own = await ctx.callVideoGenerator({ prompt: 'waves', durationSec: 6 });
    const held = await ctx.callVideoGenerator(ask);
    if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
    const lost = await ctx.callVideoGenerator({ ...ask, seed: 1 }).catch((error) => [error.code, error.retryable]);
    return { made: made.video, own: own.video, held: held.video, lost };`;
  const script = [{}, { delayMs: 100 }, { fault: 'refusal' }, { fault: 'cut' }];
  servers.gemini.media.pending = 2;
  const { run, events } = await asked(body, { provider: 'scripted', script }, 1);
  const { made, own, held, lost } = outputsOf<Record<string, JsonObject>>({ run });
  assert.deepEqual([made!.mimeType, made!.safetyFiltered, made!.width], ['video/mp4', false, 1920]);
  assert.equal((await fetched(String(made!.url))).headers['content-type'], 'video/mp4');
  assert.deepEqual([own!.durationSeconds, own!.width, own!.height], [6, 1280, 720]);
  assert.deepEqual(
    [held!.safetyFiltered, held!.mimeType, held!.thumbnailUrl],
    [true, 'image/png', held!.url],
  );
  assert.deepEqual(lost, ['effect_in_doubt', false]);
  assert.equal(servers.gemini.requests.filter(({ path }) => STARTS.test(path)).length, 1);
  assert.equal(payloadsOf(events, 'provider.usage').length, 3);
});

test('a video that the provider fails, cancels or leaves unanswered', async () => {
  const { servers } = await shared();
  const body = `
    const ask = { provider: 'gemini', prompt: 'x' };
    return { told: await ctx.callVideoGenerator(ask).catch((error) => [error.code, error.retryable].join()) };`;
  const told = async () => outputsOf(await asked(body, {})).told;
  servers.gemini.media.videoError = { code: 13, message: 'internal' };
  assert.equal(await told(), 'video_generation_failed,false');
  servers.gemini.media.videoError = { code: 1, message: 'cancelled' };
  assert.equal(await told(), 'video_generation_cancelled,false');
  delete servers.gemini.media.videoError;
  servers.gemini.media.failure = { status: 504, body: {} };
  assert.equal(await told(), 'effect_in_doubt,false');
  delete servers.gemini.media.failure;
});

test('a video that takes too long: its node may try again, and waits for the same video', async () => {
  const { servers } = await shared();
  const body = `return (await ctx.callVideoGenerator({ provider: 'gemini', prompt: 'late', durationSeconds: 5 })).video;`;
  const starts = () => servers.gemini.requests.filter(({ path }) => STARTS.test(path)).length;
  const before = starts();
  servers.gemini.media.pending = 3;
  const ended = await asked(body, {}, 1);
  assert.equal(outputsOf(ended).mimeType, 'video/mp4');
  assert.match(JSON.stringify(ended.events), /"video_generation_timeout"/);
  assert.equal(starts(), before + 1);
  const [usage, ...more] = payloadsOf(ended.events, 'provider.usage');
  assert.deepEqual([usage!.costEstimateUsd, more], [2, []]);
});

test('a pack that names models alone calls other surfaces as far as they are granted', async () => {
  const { api } = await shared();
  const FIND = 'vendor.acme.find';
  const body = `
    const { embedding } = await ctx.callAI.embeddings({ text: 'a red boat' });
    await ctx.db.vector.upsert({ collection: 'docs', records: [{ id: '1', vector: embedding, metadata: {} }] });
    const { hits, ...rest } = await ctx.db.vector.query({ collection: 'docs', vector: embedding, topK: 1 });
    return { id: hits[0].id, rest, denied: await ctx.storage.kv.get({ key: 'x' }).catch((error) => error.code) };`;
  const manifest = { peerDependencies: { aiProviders: 'supported' } };
  const pack = { name: 'vendor.acme.finder', nodes: { [FIND]: { role: 'side-effect', body } }, manifest };
  const { bytes } = await packArchive(pack);
  const installed = await api.upload(bytes, '?grant=host.vectorStore');
  assert.match(installed.body, /host\.kvStorage/);
  const both = await api.upload(bytes, '?grant=host.vectorStore,host.kvStorage');
  assert.equal(both.statusCode, 201, both.body);
  await api.registered(workflow('search', [node('a', FIND)]));
  const ended = await api.ended(
    await api.start('search', { configurable: { ai: { provider: 'scripted' } } }),
  );
  const { id, rest } = (ended.outputs ?? {}) as JsonObject;
  assert.deepEqual([id, rest], ['1', {}], JSON.stringify(ended));
});

test('counts that cannot be are not counted', async () => {
  const { servers } = await shared();
  servers.lab.media.tokens = -100_000;
  const body = `
    const { usage } = await ctx.callEmbeddings({ provider: 'lab', texts: ['near'] });
    await ctx.callReranker({ provider: 'lab', query: 'q', documents: ['a', 'b'] });
    return { usage };`;
  const { run, events, api, runId } = await asked(body);
  servers.lab.media.tokens = undefined;
  outputsOf({ run });
  const counts = payloadsOf(events, 'provider.usage').map(({ inputTokens }) => Number(inputTokens));
  assert.ok(counts.length === 2 && counts.every((count) => count > 0), counts.join());
  const [ofEmbeddings = 0, ofRanking = 0] = counts;
  assert.equal((await api.host.services.ai.ledger.ofRun('default', runId)).tokens, ofEmbeddings + ofRanking);
});
