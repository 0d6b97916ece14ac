import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MediaPart, ProviderFamily } from '../model.ts';
import { reachOf } from '../testing/asking.ts';
import { gemini } from '../testing/gemini.ts';
import { MP3, PNG, VIDEO } from '../testing/media-answers.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { ollama } from '../testing/openai-chat.ts';
import { openaiResponses } from '../testing/openai-responses.ts';
import { loadFamily } from './families.ts';

const servers = new Map<string, ModelServer>();
const families = new Map<string, ProviderFamily>();
before(async () => {
  for (const [name, dialect] of [
    ['openai', openaiResponses],
    ['google', gemini],
    ['openai-compatible', ollama],
  ] as const) {
    servers.set(name, await startModelServer(dialect));
    families.set(name, await loadFamily(name));
  }
});
after(async () => {
  for (const server of servers.values()) await server.close();
});
const at = (name: string) => {
  const server = servers.get(name) ?? assert.fail(name);
  const family = families.get(name) ?? assert.fail(name);
  return { server, family, reach: reachOf(server.baseUrl), sent: () => server.requests.at(-1) };
};
const pixel: MediaPart = { type: 'image', mimeType: 'image/png', data: PNG };

for (const name of ['openai', 'openai-compatible', 'google'])
  test(`${name}: embeddings come in the order of their texts`, async () => {
    const { family, reach } = at(name);
    const answer = await family.embed?.({ model: 'e', values: ['abcd', 'bcde'] }, reach);
    assert.equal(answer?.embeddings.length, 2);
    assert.equal(answer?.embeddings[0]?.[0], 97 / 256);
    assert.equal(answer?.embeddings[1]?.[0], 98 / 256);
  });

test('openai-compatible: documents come by their scores, and what is no ranking is broken', async () => {
  const { family, server, reach, sent } = at('openai-compatible');
  const ask = { model: 'r', query: 'q', documents: ['a', 'bcd', 'ef'], topN: 2 };
  const results = [
    { index: 1, score: 0.03 },
    { index: 2, score: 0.02 },
  ];
  assert.deepEqual(await family.rerank?.(ask, reach), { results, inputTokens: 9 });
  assert.deepEqual(sent()?.body, { model: 'r', query: 'q', documents: ask.documents, top_n: 2 });
  const best = { index: 0, relevance_score: 1 };
  for (const ranking of [[], [best, best], [{ index: 3, relevance_score: 1 }], [{ index: 0 }]]) {
    server.media.ranking = ranking;
    await assert.rejects(async () => family.rerank?.(ask, reach), { kind: 'broken' });
  }
  delete server.media.ranking;
  server.media.failure = { status: 404, body: { message: 'model r not found' } };
  await assert.rejects(async () => family.rerank?.(ask, reach), { kind: 'unknown-model' });
  delete server.media.failure;
});

test('openai: images come as bytes, in as many calls as the model needs', async () => {
  const { family, server, reach, sent } = at('openai');
  const many = await family.image?.(
    { model: 'gpt-image-1', prompt: 'a cat', count: 2, width: 1600, height: 900 },
    reach,
  );
  assert.deepEqual(
    many?.images.map(({ data, mimeType }) => [data.length, mimeType]),
    [
      [PNG.length, 'image/png'],
      [PNG.length, 'image/png'],
    ],
  );
  assert.equal(sent()?.body.size, '1536x1024');
  const before = server.requests.length;
  const single = await family.image?.({ model: 'dall-e-3', prompt: 'a cat', count: 2 }, at('openai').reach);
  assert.equal(single?.images.length, 2);
  assert.equal(server.requests.length - before, 2);
  assert.equal(
    new Set(server.requests.slice(before).map(({ headers }) => headers['idempotency-key'])).size,
    2,
  );
});

test('openai: an edit sends the image and its mask', async () => {
  const { family, reach, sent } = at('openai');
  const answer = await family.image?.(
    { model: 'gpt-image-1', prompt: 'a hat', count: 1, images: [pixel], mask: pixel },
    reach,
  );
  assert.equal(answer?.images.length, 1);
  assert.equal(sent()?.path, '/v1/images/edits');
  assert.match(String(sent()?.body.raw), /name="mask"/);
});

test('images that were withheld are counted, not thrown', async () => {
  const { family, server, reach } = at('openai');
  server.media.failure = { status: 400, body: { error: { code: 'moderation_blocked', message: 'blocked' } } };
  assert.deepEqual(await family.image?.({ model: 'gpt-image-1', prompt: 'x', count: 2 }, reach), {
    images: [],
    filtered: 2,
  });
  delete server.media.failure;
  const google = at('google');
  google.server.media.withheld = 1;
  const some = await google.family.image?.(
    { model: 'gemini-2.5-flash-image', prompt: 'x', count: 3 },
    google.reach,
  );
  assert.deepEqual([some?.images.length, some?.filtered], [2, 1]);
  delete google.server.media.withheld;
});

test('openai: speech both ways', async () => {
  const { family, reach, sent } = at('openai');
  const audio = await family.speech?.({ model: 'tts-1', text: 'Hello', voice: 'alloy' }, reach);
  assert.deepEqual(Buffer.from(audio?.data ?? []), MP3);
  assert.equal(audio?.mimeType, 'audio/mpeg');
  const heard = await family.transcribe?.(
    { model: 'whisper-1', audio: { data: MP3, mimeType: 'audio/mpeg' }, language: 'en' },
    reach,
  );
  assert.equal(heard?.text, 'Hello there.');
  assert.deepEqual(heard?.segments, [{ text: 'Hello there.', from: 0, to: 1.5 }]);
  assert.equal(heard?.durationSeconds, 1.5);
  assert.match(String(sent()?.body.raw), /name="language"\r\n\r\nen/);
});

test('google: speech is a WAV file, and an edit sends the image', async () => {
  const { family, reach, sent } = at('google');
  const audio = await family.speech?.({ model: 'gemini-2.5-flash-preview-tts', text: 'Hello' }, reach);
  assert.equal(audio?.mimeType, 'audio/wav');
  await family.image?.(
    { model: 'gemini-2.5-flash-image', prompt: 'a hat', count: 1, images: [pixel] },
    reach,
  );
  assert.match(JSON.stringify(sent()?.body), /inlineData/);
});

test('google: a video is started once and asked for until it is there', async () => {
  const { family, server, reach } = at('google');
  const video = family.video ?? assert.fail('no video');
  const { operation } = await video.start(
    { model: 'veo-3.0-generate-001', prompt: 'waves', width: 1920, height: 1080, durationSeconds: 8 },
    reach,
  );
  server.media.pending = 1;
  assert.deepEqual(await video.status(operation, reach), { state: 'pending' });
  const done = await video.status(operation, reach);
  assert.ok(done.state === 'done');
  assert.deepEqual(Buffer.from(done.video.data), VIDEO);
  assert.equal(done.video.mimeType, 'video/mp4');
  assert.ok(server.requests.every(({ path }) => !path.includes('set-by-egress')));
  server.media.videoFiltered = true;
  assert.deepEqual(await video.status(operation, reach), { state: 'filtered' });
  await assert.rejects(video.status({ operationName: '../secrets' }, reach), /no operation/);
});
