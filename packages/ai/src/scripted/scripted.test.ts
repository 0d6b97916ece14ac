import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelFailure, type ModelRequest, type StreamPart } from '../model.ts';
import { scriptedFamily } from './family.ts';
import { programScript, streamTextScript } from './mock-provider.ts';
import { type ScriptedOptions, scriptedModel } from './play.ts';
import { FAULT_NAMES, readScript, type Script } from './script.ts';

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'echo',
  messages: [{ role: 'user', content: 'Hello there' }],
  maxOutputTokens: 100,
  ...more,
});

async function played(options: ScriptedOptions, asked = request(), signal = new AbortController().signal) {
  const parts: StreamPart[] = [];
  let failure: unknown;
  const noFetch = () => assert.fail('asks a network');
  try {
    const reach = { baseUrl: '', fetch: noFetch, signal, idempotencyKey: 'k' };
    for await (const part of scriptedModel(options).stream(asked, reach)) parts.push(part);
  } catch (error) {
    failure = error;
  }
  return { parts, failure, text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('') };
}

const read = (value: unknown): Script => {
  const answer = readScript(value);
  return 'script' in answer ? answer.script : assert.fail(JSON.stringify(answer.problems));
};
const scriptOf = (answer: ReturnType<typeof programScript>): Script =>
  'script' in answer ? answer.script : assert.fail(JSON.stringify(answer.problems));

test('without a script the last message comes back, word by word', async () => {
  const { parts } = await played({});
  assert.deepEqual(parts, [
    { type: 'text', text: 'Hello' },
    { type: 'text', text: ' there' },
    { type: 'end', finish: 'stop', model: 'echo', usage: { inputTokens: 2, outputTokens: 2 } },
  ]);
});

test('other work of the process goes on during long answers and between texts', async () => {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  const reach = { baseUrl: '', fetch, signal: new AbortController().signal, idempotencyKey: 'k' };
  await played({}, request({ messages: [{ role: 'user', content: 'word '.repeat(10_000) }] }));
  assert.ok(turns >= 50, `${turns} turns of the loop`);
  turns = 0;
  const documents = Array.from({ length: 50 }, (_, index) => `document ${index}`);
  await scriptedFamily().rerank?.({ model: 'echo', query: 'a', documents, topN: 1 }, reach);
  clearImmediate(next);
  assert.ok(turns >= 50, `${turns} turns of the loop`);
});

test('without a script a search finds pages, whatever is looked for', async () => {
  const messages = [{ role: 'user', content: `${'x'.repeat(63)}😀` }] as const;
  const { parts } = await played({}, request({ messages, search: { sites: ['acme.example'] } }));
  const [found] = parts.flatMap((part) => (part.type === 'sources' ? [part.sources] : []));
  assert.equal(new URL(found![0]!.url).host, 'acme.example');
});

test('without a script a schema is answered with the smallest value that fits it', async () => {
  const schema = {
    type: 'object',
    required: ['title', 'kind', 'tags'],
    properties: {
      title: { type: 'string', minLength: 6 },
      kind: { enum: ['a', 'b'] },
      tags: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 3 } },
      more: { type: 'string' },
    },
  };
  const { text } = await played({}, request({ schema: { schema } }));
  assert.deepEqual(JSON.parse(text), { title: 'text..', kind: 'a', tags: [3] });
});

test('each attempt gets its turn, the same every time', async () => {
  const script = read([
    { fault: '429-retry-after', retryAfterMs: 250 },
    { reasoning: 'Look it up.', text: 'One moment.', toolCalls: [{ name: 'search', arguments: { q: 'x' } }] },
    { text: ['a', 'b'], finish: 'length', usage: { inputTokens: 7, outputTokens: 2 } },
  ]);
  const limited = (await played({ script })).failure;
  assert.ok(limited instanceof ModelFailure);
  assert.deepEqual([limited.kind, limited.status, limited.retryAfterMs], ['limited', 429, 250]);
  const second = await played({ script, turn: 1 });
  assert.deepEqual(second, await played({ script, turn: 1 }));
  assert.deepEqual(second.parts.slice(-2), [
    { type: 'toolCall', call: { id: 'call_1', name: 'search', arguments: { q: 'x' } } },
    { type: 'end', finish: 'tool-calls', model: 'echo', usage: { inputTokens: 2, outputTokens: 6 } },
  ]);
  const third = await played({ script, turn: 2 });
  assert.deepEqual(third.parts.at(-1), {
    type: 'end',
    finish: 'length',
    model: 'echo',
    usage: { inputTokens: 7, outputTokens: 2 },
  });
  const none = (await played({ script, turn: 3 })).failure;
  assert.match(String(none), /has 3 turns and was asked for turn 4/);
});

test('every fault either fails or ends with one end part', async () => {
  for (const fault of FAULT_NAMES.filter((name) => name !== 'silent')) {
    const script = read([{ text: 'one two three four', toolCalls: [{ name: 't' }], fault }]);
    const { parts, failure } = await played({ script });
    const ends = parts.filter(({ type }) => type === 'end');
    assert.equal(ends.length, failure === undefined ? 1 : 0, fault);
    if (failure !== undefined) assert.ok(failure instanceof ModelFailure, fault);
  }
});

test('a silent turn ends with the caller', async () => {
  const controller = new AbortController();
  const script = read([{ text: 'one two', fault: 'silent' }]);
  const waiting = played({ script }, request(), controller.signal);
  setImmediate(() => controller.abort());
  const { parts, failure } = await waiting;
  assert.deepEqual(parts, [{ type: 'text', text: 'one' }]);
  assert.equal((failure as Error).name, 'AbortError');
});

test('a misspelled script is refused with the place and the word that was meant', () => {
  assert.deepEqual(readScript([{ txt: 'Hello' }]), {
    problems: [{ field: '/0', problem: 'has no member "txt" (did you mean "text"?)' }],
  });
  assert.match(JSON.stringify(readScript([{ fault: 'cutt' }])), /must be one of .*, cut, /);
  assert.ok('problems' in readScript([]));
});

test('stream-text sends the tokens it was given', async () => {
  const plain = await played({ script: scriptOf(streamTextScript()) });
  assert.deepEqual(plain.parts, [
    { type: 'text', text: 'mock' },
    { type: 'text', text: ' response' },
    {
      type: 'end',
      finish: 'stop',
      model: 'mock-stream-text-v1',
      usage: { inputTokens: 1, outputTokens: 2 },
    },
  ]);
  assert.ok('problems' in streamTextScript({ delayMsPerToken: 5_001 }));
  assert.ok('problems' in streamTextScript({ token: ['a'] }));
});

test('a program serves its entries in order', async () => {
  const script = scriptOf(
    programScript([
      { mode: 'envelope', envelope: { type: 'x' } },
      { mode: 'refusal', refusalReason: 'No.' },
      { stopReason: 'max_tokens', content: '{"a":', outputTokens: 50 },
      { stopReason: 'safety', refusalText: 'I will not.' },
    ]),
  );
  const turns = await Promise.all(script.map((_, turn) => played({ script, turn })));
  const seen = turns.map(({ text, parts }) => {
    const end = parts.at(-1);
    return [text, end?.type === 'end' ? end.finish : 'none'];
  });
  assert.deepEqual(seen, [
    ['{"type":"x"}', 'stop'],
    ['No.', 'refusal'],
    ['{"a":', 'length'],
    ['I will not.', 'refusal'],
  ]);
});
