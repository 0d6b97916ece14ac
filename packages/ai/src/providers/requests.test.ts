import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerOf } from '../answer.ts';
import { type Message, ModelFailure, type ProviderFamily } from '../model.ts';
import { reachOf, requestOf } from '../testing/asking.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { loadFamily, PREFIX_FAMILIES } from './families.ts';

const CANARY = 'sk-canary-from-the-environment';
// Libraries read these unless they are given a key and an address.
for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'])
  process.env[name] = CANARY;
for (const name of ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']) process.env[name] = 'http://127.0.0.1:9/';

const tools = [
  { name: 'openwop:core.http', description: 'Fetches.', parameters: { type: 'object', properties: {} } },
];
const PIXEL = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

for (const { dialect, family: name } of DIALECTS) {
  let server: ModelServer;
  let family: ProviderFamily;
  before(async () => {
    server = await startModelServer(dialect);
    family = await loadFamily(name);
  });
  after(() => server.close());
  const sent = () => server.requests.at(-1) ?? assert.fail('nothing was sent');
  const text = () => JSON.stringify(sent().body);

  test(`${dialect.name}: no key of the environment leaves, and the placeholder does`, async () => {
    server.play('m', [{ text: 'Hello' }]);
    await answerOf(family.chat.stream(requestOf(), reachOf(server.baseUrl, { idempotencyKey: 'call-1' })));
    assert.doesNotMatch(JSON.stringify(sent()), new RegExp(CANARY));
    assert.match(JSON.stringify(sent().headers), /set-by-egress/);
    assert.equal(sent().headers['idempotency-key'], 'call-1');
    assert.equal(server.counts.get('call-1'), 1);
  });

  test(`${dialect.name}: a conversation goes back as it came`, async () => {
    const calls = [{ name: tools[0]?.name ?? '', arguments: { a: 1 } }];
    server.play('m', [
      { reasoning: 'I need to look.', text: 'Looking.', toolCalls: calls },
      { text: 'Found.' },
    ]);
    const asked: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Find it.' },
    ];
    const first = await answerOf(
      family.chat.stream(requestOf({ messages: asked, tools, reasoning: 'low' }), reachOf(server.baseUrl)),
    );
    const [call] = first.toolCalls;
    assert.ok(call);
    assert.equal(call.name, 'openwop:core.http');
    assert.doesNotMatch(text(), /openwop:core/);
    const messages: Message[] = [
      ...asked,
      { role: 'assistant', content: first.text, toolCalls: first.toolCalls, reasoning: first.reasoning },
      { role: 'tool', toolCallId: call.id, name: call.name, content: { found: true } },
      { role: 'tool', toolCallId: 'other', name: call.name, content: 'It failed.', isError: true },
    ];
    const second = await answerOf(
      family.chat.stream(
        requestOf({ messages, tools, toolChoice: { name: call.name } }),
        reachOf(server.baseUrl),
      ),
    );
    assert.equal(second.text, 'Found.');
    assert.match(text(), /Looking\./);
    assert.match(text(), /found/);
    assert.match(text(), /It failed\./);
    assert.doesNotMatch(text(), /openwop:core/);
    if (name === 'anthropic') assert.match(text(), /"signature":"c2lnbmVk"/);
    if (name === 'google') assert.match(text(), /"thoughtSignature":"c2lnbmVk"/);
    if (name === 'openai') {
      assert.match(text(), /ZW5jcnlwdGVk/);
      assert.equal(sent().body.store, false);
    }
  });

  test(`${dialect.name}: a schema and settings are asked for`, async () => {
    server.play('m', [{ text: ['{"title":', '"x"}'] }]);
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
      additionalProperties: false,
    };
    const answer = await answerOf(
      family.chat.stream(
        requestOf({ schema: { schema }, temperature: 0.2, maxOutputTokens: 77 }),
        reachOf(server.baseUrl),
      ),
    );
    assert.deepEqual(JSON.parse(answer.text), { title: 'x' });
    assert.match(text(), /"title"/);
    assert.match(text(), /77/);
  });

  test(`${dialect.name}: a prefix that may be kept is told to those who want to know`, async () => {
    const messages: Message[] = [
      { role: 'system', content: 'Long rules.' },
      { role: 'user', content: 'Hello' },
    ];
    server.play('m', Array(3).fill({ text: 'Hello' }));
    const read: (number | undefined)[] = [];
    for (const cacheKey of ['k-1', 'k-1', 'k-2']) {
      const request = requestOf({ messages, cacheKey });
      read.push(
        (await answerOf(family.chat.stream(request, reachOf(server.baseUrl)))).end?.usage?.cacheReadTokens,
      );
    }
    assert.equal(sent().body.prompt_cache_key, name === 'openai' ? 'k-2' : undefined);
    assert.equal(/"cache_control":\{"type":"ephemeral"\}/.test(text()), name === 'anthropic');
    assert.deepEqual(
      read.map((tokens = 0) => tokens > 0),
      [false, PREFIX_FAMILIES.includes(name), false],
      'who has another key reads nothing',
    );
  });

  test(`${dialect.name}: media leave as bytes`, async () => {
    server.play('m', [{ text: 'A pixel.' }]);
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
    ] as const;
    await answerOf(
      family.chat.stream(requestOf({ messages: [{ role: 'user', content }] }), reachOf(server.baseUrl)),
    );
    assert.match(text(), new RegExp(Buffer.from(PIXEL).toString('base64').slice(0, 5)));
  });

  test(`${dialect.name}: an abort ends the answer with its reason`, async () => {
    server.play('m', [{ text: 'one two three', fault: 'silent' }]);
    const controller = new AbortController();
    const reason = new Error('the run was cancelled');
    const stream = family.chat.stream(requestOf(), reachOf(server.baseUrl, { signal: controller.signal }));
    await assert.rejects(
      async () => {
        for await (const part of stream) if (part.type === 'text') controller.abort(reason);
      },
      (error) => error === reason,
    );
  });

  test(`${dialect.name}: what never left is told apart from what broke`, async () => {
    const failing = (sentFlag: boolean) => async () => {
      throw Object.assign(new Error('connect failed to 10.0.0.1'), { name: 'EgressError', sent: sentFlag });
    };
    const kindOf = (fetch: typeof globalThis.fetch) =>
      answerOf(family.chat.stream(requestOf(), reachOf(server.baseUrl, { fetch }))).then(
        () => assert.fail('answered'),
        (error) => (error instanceof ModelFailure ? error.kind : assert.fail(String(error))),
      );
    assert.equal(await kindOf(failing(false)), 'not-sent');
    assert.equal(await kindOf(failing(true)), 'broken');
  });

  test(`${dialect.name}: failures quote no request, address or key`, async () => {
    for (const fault of ['401', '400', 'html-502', 'cut', 'overloaded-mid-stream', 'too-long'] as const) {
      if (dialect.cannot[fault] !== undefined) continue;
      server.play('m', [{ text: 'a b c', fault }]);
      const error = await answerOf(
        family.chat.stream(
          requestOf({ messages: [{ role: 'user', content: 'private words' }] }),
          reachOf(server.baseUrl),
        ),
      ).then(
        () => assert.fail(`${fault} is an answer`),
        (thrown) => thrown,
      );
      const all = JSON.stringify({
        ...error,
        message: error.message,
        stack: error.stack,
        cause: error.cause,
      });
      assert.doesNotMatch(all, /private words|127\.0\.0\.1|set-|canary/, fault);
    }
  });
}
