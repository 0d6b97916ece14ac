import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startModelServer } from '../../ai/src/testing/model-server.ts';
import { openaiChat } from '../../ai/src/testing/openai-chat.ts';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import { realHost } from './testing/real-host.ts';

test('ai: providers are listed with what to do next, and a model is tried', async (t) => {
  const server = await startModelServer(openaiChat);
  t.after(() => server.close());
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const file = `${folder.path}/ai.json`;
  const lab = {
    id: 'lab',
    url: server.baseUrl,
    models: ['small', 'lab/large'],
    price: { input: 1, output: 2 },
  };
  await writeFile(file, JSON.stringify({ endpoints: [lab] }));
  const host = await realHost(t, [], { settings: { ai: file, ollamaHost: '127.0.0.1:9' } });
  const gantry = (...args: string[]) => host.gantry('ai', ...args);

  const listed = await gantry('providers');
  assert.match(listed.out, /lab +ready +chat +small, lab\/large/);
  assert.match(listed.out, /ollama +unreachable/);
  assert.match(listed.out, /scripted +ready +chat,\S+ +echo/);
  assert.doesNotMatch(listed.out, /anthropic|127\.0\.0\.1/);
  const all = await gantry('providers', '--all');
  assert.match(
    all.out,
    /anthropic +no-key +chat,search +gantry credentials add anthropic --provider anthropic/,
  );

  const echoed = await gantry('try', 'Good morning', '--provider', 'scripted');
  assert.equal(echoed.code, 0, echoed.err);
  assert.match(echoed.out, /^Good morning\nscripted echo: \d+ tokens in, 2 out/);
  server.play('small', [{ text: 'Hello\nfrom the lab.', usage: { inputTokens: 5, outputTokens: 7 } }]);
  const tried = await gantry('try', 'Hello', '--provider', 'lab');
  assert.match(tried.out, /^Hello\nfrom the lab\.\nlab small: 5 tokens in, 7 out, about \$0\.000019/);
  assert.match((await gantry('try', 'Hi', '--model', 'scripted/echo')).out, /^Hi\nscripted echo: /);
  for (const [model, asked] of [
    ['lab/small', 'small'],
    ['lab/large', 'lab/large'],
  ] as const) {
    server.play(asked, [{ text: 'Hello.' }]);
    assert.match((await gantry('try', 'Hi', '--model', model)).out, /^Hello\.\nlab /);
    assert.equal(server.requests.at(-1)?.body.model, asked);
  }

  const near = await gantry('try', 'Hi', '--model', 'scriptd/echo');
  assert.deepEqual(
    [near.code, near.err],
    [2, 'gantry: There is no provider "scriptd". Did you mean scripted?\n'],
  );
  const wrong = await gantry('try', 'Hello', '--provider', 'labs');
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /provider_not_supported: .*Did you mean lab\?/);
  const none = await gantry('try', 'Hello', '--provider', 'openai');
  assert.match(none.err, /gantry credentials add openai/);
});
