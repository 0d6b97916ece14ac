/** A value that cannot be sent is named by the call and argument, or the output, that holds it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Invocation } from './invocation.ts';
import { ErrorForPack } from './result.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const LIMITS = { memoryBytes: 512 * MIB, wallClockMs: 60_000, outputBytes: MIB };
const surfaces = { 'kv.put': 'unary', 'sql.transaction': 'unary', send: 'unary', look: 'sync' } as const;
const call: Invocation['call'] = async (method, [request]) => {
  if (Object(request).value !== undefined) return null;
  throw new ErrorForPack('validation_error', `${method}: value is missing.`);
};

/** What each of these expressions fails with. */
async function messagesOf(t: Parameters<typeof startSandbox>[0], expressions: readonly string[]) {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`const round = { a: {} }; round.a.b = round; const messages = [];
    const deep = Array(300).fill(0).reduce((inner) => [inner], 1);
    for (const work of [${expressions.map((expression) => `() => ${expression}`).join(', ')}])
      try { await work(); messages.push('done'); } catch ({ message }) { messages.push(message); }
    return { messages };`);
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces, call, limits: LIMITS }));
  assert.equal(result.status, 'success', JSON.stringify(result));
  return result.status === 'success' && Array.isArray(result.outputs.messages) ? result.outputs.messages : [];
}

test('what is no data is named by method and argument', async (t) => {
  const cases = {
    "ctx.kv.put({ key: 'a', value: 10n })": 'kv.put: value is a BigInt; send a string.',
    "ctx.kv.put({ key: 'a', value: { list: [1, { 'the total': 10n }] } })":
      'kv.put: value.list[1]["the total"] is a BigInt; send a string.',
    "ctx.kv.put({ key: 'a', value: ctx.send({ value: 1 }) })":
      'kv.put: value is a Promise; is an `await` missing?',
    "ctx.kv.put({ key: 'a', value: round })":
      'kv.put: value.a.b refers back to what it is part of; JSON cannot represent that.',
    'ctx.send(1, 2n)': 'send: argument 2 is a BigInt; send a string.',
    'ctx.send(3n)': 'send: the argument is a BigInt; send a string.',
    'ctx.look({ key: 4n })': 'look: key is a BigInt; send a string.',
    "ctx.kv.put({ key: 'a', value: () => 1 })":
      'kv.put: value is missing. A function cannot be sent: value was left out.',
    'ctx.sql.transaction(async () => {})':
      'sql.transaction: value is missing. A function cannot be sent: the argument was left out.',
    "ctx.kv.put({ key: 'a', value: 1, onProgress: () => {} })": 'done',
    'ctx.emit({ data: 5n })': 'event.data is a BigInt; send a string.',
    'ctx.send({ value: [1, Number.NaN] })':
      'send: value[1] is NaN, which JSON cannot represent; send null or a string.',
    'ctx.send({ value: -Infinity })':
      'send: value is -Infinity, which JSON cannot represent; send null or a string.',
    'ctx.send({ value: new Map([[1, 2]]) })':
      'send: value is a Map, which JSON cannot represent; send an object or a list.',
    'ctx.send({ value: new Set() })':
      'send: value is a Set, which JSON cannot represent; send an object or a list.',
    'ctx.send({ value: /a/ })':
      'send: value is a RegExp, which JSON cannot represent; send an object or a list.',
    'ctx.send(JSON.parse(\'{"value":{"__proto__":1}}\'))':
      'send: value has a member named __proto__, which is not taken.',
  };
  assert.deepEqual(await messagesOf(t, Object.keys(cases)), Object.values(cases));
  const [tooDeep] = await messagesOf(t, [`ctx.kv.put({ value: deep })`]);
  assert.match(String(tooDeep), /^kv\.put: value[[\]0]+ lies more than 200 levels deep\.$/);
});

test('what is too large is named with what may be sent at most', async (t) => {
  const [text, bytes, rows, positional] = await messagesOf(t, [
    `ctx.kv.put({ key: 'a', value: { note: 'x'.repeat(17 << 20) } })`,
    `ctx.send({ path: 'big', bytes: new Uint8Array(34 << 20) })`,
    `ctx.send({ rows: Array(1_000_001).fill(0) })`,
    `ctx.send('a', 'x'.repeat(17 << 20))`,
  ]);
  const next = 'Send bytes instead of base64, or make several calls.';
  assert.match(
    String(text),
    /^kv\.put: value\.note is too large\. It takes 178\d{5} bytes as JSON; at most 16777216 fit\./,
  );
  assert.equal(
    bytes,
    `send: bytes is too large. It holds byte arrays of 35651584 bytes; at most 34603008 fit. ${next}`,
  );
  assert.match(String(rows), /^send: rows is too large\. It holds too much: at most 1000000 values fit/);
  assert.match(String(positional), /^send: argument 2 is too large\. It takes /);
});

test('so is what a node cannot return', async (t) => {
  const sandbox = await startSandbox(t);
  const cases = {
    'return { total: 10n };': 'The result cannot be sent: outputs.total is a BigInt; send a string.',
    'return { total: 0 / 0 };':
      'The result cannot be sent: outputs.total is NaN, which JSON cannot represent; send null or a string.',
    'return { outputs: { total: 10n } };':
      'The result cannot be sent: outputs.total is a BigInt; send a string.',
    "ctx.variables.set('n', 10n); return {};":
      'The result cannot be sent: variables.n is a BigInt; send a string.',
    "throw Object.assign(new Error('own words'), { details: { n: 1n } });": 'own words',
    'return { get status() { throw null; } };': 'null',
    'return { get a() { throw null; } };': 'The result cannot be sent: it cannot be read.',
  };
  for (const [body, expected] of Object.entries(cases)) {
    const { result } = await sandbox.invoke(invocationOf(await nodePack(body)));
    assert.equal(result.status === 'error' && result.error.message, expected);
  }
  const large = `ctx.variables.set('n', 1); return { list: [1], text: 'x'.repeat(17 << 20) };`;
  const { result } = await sandbox.invoke(invocationOf(await nodePack(large), { limits: LIMITS }));
  const { message } = result.status === 'error' ? result.error : { message: '' };
  assert.match(
    message,
    /^The result cannot be sent: outputs\.text is too large\. It takes 178\d{5} bytes as JSON/,
  );
});
