/** Nodes that ask a model, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { type ApiTest, apiTest, assertPublic } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { payloadsOf, typesOf } from '../testing/run-events.ts';

const host = onePerFile((t) =>
  apiTest(t, {
    settings: { testSeams: true },
    workflows: [
      workflow('ask', [node('ai', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'Hello there' })]),
      workflow('mocked', [node('ai', 'core.ai.callPrompt', { promptId: 'conformance.stream-text-noop' })]),
      workflow('prompted', [
        node('ai', 'core.ai.callPrompt', {
          provider: 'scripted',
          systemPromptRef: 'prompt:conformance.prompt.writer-system@1.0.0',
          userPromptRef: 'prompt:conformance.prompt.writer-user',
        }),
      ]),
      workflow('programmed', [
        node('structured', 'core.ai.structuredOutput', {
          provider: 'mock',
          prompt: 'Is it?',
          maxTokens: 50,
          outputSchema: { type: 'object', required: ['valid'], properties: { valid: { type: 'boolean' } } },
        }),
      ]),
      workflow('nobody', [node('ai', 'core.ai.callPrompt', { prompt: 'Hello' })]),
      workflow('shaped', [
        node('ai', 'core.ai.structuredOutput', {
          provider: 'scripted',
          prompt: 'Is it?',
          outputSchema: { type: 'object', required: ['valid'], properties: { valid: { type: 'boolean' } } },
        }),
      ]),
    ],
  }),
);

async function eventsOf(api: ApiTest, runId: string): Promise<RunEventDoc[]> {
  await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
}

const scripted = (...script: JsonObject[]) => ({ configurable: { ai: { script } } });

test('text is told word by word, with its usage, before the node completes', async () => {
  const api = await host();
  const runId = await api.start('ask');
  const events = await eventsOf(api, runId);
  assert.deepEqual(typesOf(events), [
    'run.started',
    'node.started',
    'output.chunk',
    'output.chunk',
    'provider.usage',
    'node.completed',
    'run.completed',
  ]);
  const chunks = payloadsOf(events, 'output.chunk');
  assert.deepEqual(
    chunks.map(({ chunk, isLast }) => [chunk, isLast]),
    [
      ['Hello', false],
      [' there', true],
    ],
  );
  assert.equal(new Set(chunks.map(({ channel }) => channel)).size, 1);
  const usage = { provider: 'scripted', model: 'echo', inputTokens: 2, outputTokens: 2, totalTokens: 4 };
  assert.deepEqual(payloadsOf(events, 'provider.usage'), [{ ...usage, nodeId: 'ai' }]);
  const { outputs } = (await api.get(`/v1/runs/${runId}`)).json();
  assert.equal(outputs.content, 'Hello there');
  assert.equal(outputs.finishReason, 'stop');
});

test('a mock provider serves as many chunks as it has tokens', async () => {
  const api = await host();
  const config = { tokens: ['a', 'b', 'c'], finishReason: 'length', usage: { promptTokens: 7 } };
  const mockProvider = { id: 'stream-text', config };
  const events = await eventsOf(api, await api.start('mocked', { configurable: { mockProvider } }));
  const chunks = payloadsOf(events, 'output.chunk');
  assert.deepEqual(
    chunks.map(({ chunk, isLast }) => [chunk, isLast]),
    [
      ['a', false],
      ['b', false],
      ['c', true],
    ],
  );
  const { finishReason, usage } = chunks.at(-1)!.meta as JsonObject;
  assert.deepEqual(
    [finishReason, usage],
    ['length', { promptTokens: 7, completionTokens: 3, totalTokens: 10 }],
  );
  for (const [given, code] of [
    [{ id: 'other' }, 'unsupported_mock_provider'],
    [{ id: 'stream-text', confg: {} }, 'validation_error'],
  ] as const) {
    const refused = await api.post('/v1/runs', {
      workflowId: 'mocked',
      configurable: { mockProvider: given },
    });
    assert.deepEqual([refused.statusCode, refused.json().error], [400, code]);
  }
});

test('a broken attempt is closed in the log before the next begins', async () => {
  const api = await host();
  const script = scripted(
    { text: ['one', ' two', ' three', ' four'], fault: 'cut' },
    { text: 'Hello again' },
  );
  const runId = await api.start('ask', script);
  const chunks = payloadsOf(await eventsOf(api, runId), 'output.chunk');
  const channels = [...Map.groupBy(chunks, ({ channel }) => channel).values()];
  assert.deepEqual(
    channels.map((told) => told.map(({ chunk, isLast }) => [chunk, isLast])),
    [
      [
        ['one', false],
        ['', true],
      ],
      [
        ['Hello', false],
        [' again', true],
      ],
    ],
  );
});

test('limits are waited for; what cannot be passed by waiting fails with its code', async () => {
  const api = await host();
  const waited = await api.start(
    'ask',
    scripted({ fault: '429-retry-after', retryAfterMs: 1 }, { text: 'Late' }),
  );
  assert.equal(((await api.ended(waited)).outputs as JsonObject).content, 'Late');
  for (const [fault, code] of [
    ['401', 'credential_unavailable'],
    ['unknown-model', 'model_not_supported'],
    ['too-long', 'content_too_long'],
    ['400', 'provider_unavailable'],
  ] as const) {
    const ended = await api.ended(await api.start('ask', scripted({ fault })));
    assert.deepEqual([ended.status, (ended.error as JsonObject).code], ['failed', code], fault);
  }
});

test('without a provider the run says how to get one', async () => {
  const api = await host();
  const { error } = (await api.ended(await api.start('nobody'))) as { error: JsonObject };
  assert.equal(error.code, 'provider_unavailable');
  assert.match(String(error.message), /gantry credentials.*"scripted"/);
  const named = await api.ended(await api.start('nobody', { configurable: { ai: { provider: 'acme' } } }));
  assert.equal((named.error as JsonObject).code, 'provider_not_supported');
});

test('structured output fits its schema, or fails by its cause', async () => {
  const api = await host();
  const outputsOf = async (...script: JsonObject[]) =>
    api.ended(await api.start('shaped', scripted(...script)));
  assert.deepEqual(((await outputsOf({ text: '{"valid":true}' })).outputs as JsonObject).data, {
    valid: true,
  });
  for (const [turn, code] of [
    [{ text: 'yes' }, 'envelope_invalid'],
    [{ text: '{"valid":1}' }, 'envelope_invalid'],
    [{ text: 'I will not.', fault: 'refusal' }, 'envelope_refusal'],
  ] as const) {
    // As often as it is asked
    const { error } = (await outputsOf(turn, turn, turn, turn)) as { error: JsonObject };
    assert.equal(error.code, code);
    assert.doesNotMatch(String(error.message), /I will not/);
  }
});

test('a replay asks nothing and tells the same', async () => {
  const api = await host();
  const runId = await api.start('ask');
  const source = await eventsOf(api, runId);
  const response = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal(response.statusCode, 201, response.body);
  const replayed = await eventsOf(api, response.json().runId);
  const told = (events: readonly RunEventDoc[]) =>
    events.filter(({ type }) => type !== 'run.started').map(({ type, payload }) => [type, payload.chunk]);
  assert.deepEqual(told(replayed), told(source));
});

test('prompts are resolved and told before the model is asked', async () => {
  const api = await host();
  const runId = await api.start('prompted');
  const events = await eventsOf(api, runId);
  const types = typesOf(events);
  assert.deepEqual(types.slice(2, 6), [
    'agent.promptResolved',
    'agent.promptResolved',
    'prompt.composed',
    'prompt.composed',
  ]);
  for (const type of ['agent.promptResolved', 'prompt.composed'])
    for (const payload of payloadsOf(events, type))
      assertPublic('run-event-payloads.schema.json#/$defs/_typeIndex', { [type]: payload });
  const [system] = payloadsOf(events, 'agent.promptResolved');
  assert.equal(system!.resolved, 'prompt:conformance.prompt.writer-system@1.0.0');
  const { outputs } = await api.ended(runId);
  // The scripted provider repeats the last message
  assert.equal((outputs as JsonObject).output, 'Write one sentence about bridges.');
});

test('structured answers are asked for again by their cause, within limits', async () => {
  const api = await host();
  const program = async (...entries: JsonObject[]): Promise<RunEventDoc[]> => {
    const body = { nodeId: 'structured', program: entries };
    const response = await api.post('/v1/host/sample/test/mock-ai/program', body);
    assert.equal(response.statusCode, 200, response.body);
    return eventsOf(api, await api.start('programmed'));
  };
  const envelopes = (events: readonly RunEventDoc[]) =>
    typesOf(events).filter((type) => /^(envelope|cap|provider)\./.test(type));
  const answer = (content: string, stopReason = 'end_turn') => ({ stopReason, content });
  const good = answer('{"valid":true}');

  const cut = await program(answer('{"val', 'max_tokens'), good);
  assert.deepEqual(envelopes(cut), [
    'provider.usage',
    'envelope.truncated',
    'envelope.retry.attempted',
    'provider.usage',
  ]);
  const bound = await api.get('/v1/host/sample/test/mock-ai/last-dispatch-budget?nodeId=structured');
  assert.equal(bound.json().maxTokens, 100);

  const wrong = answer('{"valid":"maybe"}');
  const exhausted = await program(wrong, wrong, wrong);
  assert.deepEqual(envelopes(exhausted).slice(-3), [
    'provider.usage',
    'envelope.retry.exhausted',
    'cap.breached',
  ]);
  const [failed] = payloadsOf(exhausted, 'node.failed');
  assert.equal((failed!.error as JsonObject).code, 'envelope_invalid');

  const refusal = await program({ stopReason: 'safety', refusalText: 'I would rather not.' });
  assert.deepEqual(envelopes(refusal), ['provider.usage', 'envelope.refusal']);
  assert.ok(!JSON.stringify(payloadsOf(refusal, 'run.failed')).includes('rather not'));

  const fenced = await program(answer('```json\n{"valid":true}\n```'));
  assert.deepEqual(envelopes(fenced), ['provider.usage', 'envelope.recovery.applied']);
});

// The last: the secret stays known, and what may be a part of it waits
test('chunks of a mock provider are its tokens, whatever secret may begin in one', async () => {
  const api = await host();
  await api.post('/v1/host/sample/credentials/echo', { canary: 'open-sesame-open-sesame' });
  const { testing } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(testing, { mockProviders: ['stream-text'] });
  const chunksOf = async (...tokens: string[]): Promise<unknown[]> => {
    const mockProvider = { id: 'stream-text', config: { tokens } };
    const events = await eventsOf(api, await api.start('mocked', { configurable: { mockProvider } }));
    return payloadsOf(events, 'output.chunk').map(({ chunk }) => chunk);
  };
  assert.deepEqual(await chunksOf('Hello', ' ', 'wo', '!', 'o'), ['Hello', ' ', 'wo', '!', 'o']);
  const told = await chunksOf('I say open-sesame', '-open-sesame', ' to', ' you');
  assert.match(told.join(''), /^I say \[REDACTED:[^\]]+\] to you$/);
  assert.deepEqual(told.slice(-1), [' you']);
});
