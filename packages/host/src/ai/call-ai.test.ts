/** Pack code that asks models. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { payloadsOf } from '../testing/run-events.ts';

const TYPE = 'vendor.acme.ask';
const shared = onePerFile(sharedPackTest);

async function asked(body: string, more: { script?: JsonObject[]; retries?: number } = {}) {
  const api = await shared();
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body } } });
  const settings = { maxRetries: more.retries ?? 0, backoffMs: 1 };
  await api.registered(workflow('ask', [node('a', TYPE, {}, { settings })]));
  const configurable = { ai: { provider: 'scripted', ...(more.script && { script: more.script }) } };
  const runId = await api.start('ask', { configurable });
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  return { api, runId, run, events: events as RunEventDoc[] };
}

const answersOf = ({ run }: { run: JsonObject }): JsonObject => {
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  return run.outputs as JsonObject;
};

test('every spelling of a call gives the answer in both spellings', async () => {
  const body = `
    const messages = [{ role: 'user', content: 'Hello there' }];
    const plain = await ctx.callAI({ provider: undefined, messages, systemPrompt: 'Be kind.', temperature: 0.2 });
    const nested = await ctx.aiProviders.callAI({ messages, maxTokens: 100, stopSequences: ['x'], cachePrefixId: 'p' });
    const tools = await ctx.callAIWithTools({ messages, tools: [], toolChoice: 'auto' });
    return { plain, nested: nested.text, tools: tools.content, again: typeof ctx.aiProviders.callAIWithTools };`;
  const { plain, nested, tools, again } = answersOf(await asked(body));
  assert.deepEqual(plain, {
    content: 'Hello there',
    text: 'Hello there',
    usage: { inputTokens: 4, outputTokens: 2, totalTokens: 6, promptTokens: 4, completionTokens: 2 },
    finishReason: 'stop',
    model: 'echo',
    provider: 'scripted',
  });
  assert.deepEqual([nested, tools, again], ['Hello there', 'Hello there', 'function']);
});

test('structured answers are parsed, and tool calls are one turn', async () => {
  const body = `
    const messages = [{ role: 'user', content: 'Weather?' }];
    const schema = { type: 'object', properties: { rain: { type: 'boolean' } } };
    const shaped = await ctx.callAI({ messages, responseSchema: schema });
    const tools = [{ name: 'look', description: 'Looks', inputSchema: { type: 'object' } }];
    const turn = await ctx.callAIWithTools({ messages, tools });
    messages.push({ role: 'assistant', content: '', toolCalls: turn.toolCalls });
    messages.push({ role: 'tool', toolCallId: turn.toolCalls[0].id, name: 'look', content: { rain: true } });
    const last = await ctx.callAIWithTools({ messages, tools });
    return { data: shaped.data, parsed: shaped.parsed, calls: turn.toolCalls, reason: turn.finishReason, last: last.text };`;
  const script = [
    { text: '{"rain":true}' },
    { toolCalls: [{ id: 'c1', name: 'look', arguments: { where: 'here' } }] },
    { text: 'It rains.' },
  ];
  assert.deepEqual(answersOf(await asked(body, { script })), {
    data: { rain: true },
    parsed: { rain: true },
    calls: [{ id: 'c1', name: 'look', arguments: { where: 'here' } }],
    reason: 'tool_calls',
    last: 'It rains.',
  });
});

test('a node that runs again reads its calls, and tells them once', async () => {
  const body = `
    const said = [];
    for (const word of ['one', 'two']) said.push((await ctx.callAI({ messages: [{ role: 'user', content: word }] })).text);
    if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
    return { said };`;
  const { run, events, api, runId } = await asked(body, { retries: 1 });
  assert.deepEqual(answersOf({ run }).said, ['one', 'two']);
  assert.equal(events.filter(({ type }) => type === 'node.retried').length, 1);
  const usages = payloadsOf(events, 'provider.usage');
  assert.equal(usages.length, 2);
  const { ledger } = api.host.services.ai;
  const spent = usages.reduce((sum, { totalTokens }) => sum + Number(totalTokens), 0);
  assert.deepEqual(await ledger.ofRun('default', runId), { tokens: spent, cost: 0 });
  assert.deepEqual(await ledger.held('default', runId), []);
});

test('what is wrong is said with its code and its place', async () => {
  const body = `
    const codes = [];
    for (const ask of [
      { messages: 'hello' },
      { messages: [], temprature: 1 },
      { messages: [], provider: 'acme' },
      { messages: [], responseSchema: { type: 'nothing' } },
      { messages: [{ role: 'user', content: [{ type: 'image', mimeType: 'image/png', data: 'AA==' }] }] },
    ])
      try { await ctx.callAI(ask); codes.push('ok'); } catch (error) { codes.push(error.code + ' ' + error.message); }
    return { codes };`;
  const { codes } = answersOf(await asked(body)) as { codes: string[] };
  assert.match(codes[0]!, /^validation_error .*messages/);
  assert.match(codes[1]!, /^validation_error .*`temprature`.*temperature/);
  assert.match(codes[2]!, /^provider_not_supported .*scripted/);
  assert.match(codes[3]!, /^response_schema_invalid/);
  assert.match(codes[4]!, /^unsupported_modality .*image/);
});

test('a try that broke stays paid for and is listed until its run is gone', async () => {
  const body = `return { said: (await ctx.callAI({ messages: [{ role: 'user', content: 'Hi' }], maxTokens: 50 })).text };`;
  const script = [{ text: 'half of it', fault: 'cut' }, { text: 'all of it' }];
  const { run, events, api, runId } = await asked(body, { script });
  assert.equal(answersOf({ run }).said, 'all of it');
  const { ledger } = api.host.services.ai;
  const held = await ledger.held('default', runId);
  assert.equal(held.length, 1);
  const [usage] = payloadsOf(events, 'provider.usage');
  const { tokens } = await ledger.ofRun('default', runId);
  assert.equal(tokens, held[0]!.tokens + Number(usage!.totalTokens));
});
