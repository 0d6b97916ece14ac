import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answered, type Asked, afterAnswer, firstAsk, type Next } from './completion.ts';
import { recoverJson } from './recover.ts';

const call = {
  nodeId: 'n',
  envelopeType: 'Thing',
  limits: { attemptsMax: 3, truncationMultiplier: 2, outputMax: 1000 },
};
const answered = async (text: string, more: Partial<Answered> = {}): Promise<Answered> => ({
  finish: 'stop',
  text,
  provider: 'mock',
  model: 'mini',
  recovered: await recoverJson(text),
  faults: [],
  ...more,
});

/** Gives the answers one by one, as long as it is asked. */
async function converse(
  ...answers: (Answered | Promise<Answered>)[]
): Promise<{ last: Next; asks: Asked[]; types: string[] }> {
  const asks = [firstAsk(50)];
  const types: string[] = [];
  for (const answer of answers) {
    const last = afterAnswer(call, asks.at(-1)!, await answer);
    types.push(...last.events.map(({ type }) => type));
    if (last.kind !== 'ask') return { last, asks, types };
    asks.push(last.asked);
  }
  throw new Error('Still asking');
}

test('a valid answer is done at once', async () => {
  const { last, types } = await converse(answered('{"a":1}'));
  assert.deepEqual(last.kind === 'done' && last.value, { a: 1 });
  assert.deepEqual(types, []);
});

test('what had to be recovered says so, and costs no attempt', async () => {
  const fenced = await converse(answered('Sure:\n```json\n{"a":1}\n```\n'));
  assert.deepEqual(fenced.types, ['envelope.recovery.applied']);
  const { payload } = fenced.last.events[0]!;
  assert.deepEqual(payload, { nodeId: 'n', path: 'markdown-fence', byteOffset: 14 });
});

test('a cut-off answer is asked for with more room and the same words', async () => {
  const cut = answered('{"a', { finish: 'length' });
  const { asks, types, last } = await converse(cut, answered('{"a":1}'));
  assert.deepEqual(types, ['envelope.truncated', 'envelope.retry.attempted']);
  assert.deepEqual(asks[1], { attempt: 2, maxOutputTokens: 100, onlyProse: false });
  assert.equal(last.kind, 'done');
  const never = await converse(cut, cut, cut);
  assert.ok(never.last.kind === 'failed' && never.last.code === 'envelope_truncation_unrecoverable');
  assert.deepEqual(never.types.slice(-3), ['envelope.truncated', 'envelope.retry.exhausted', 'cap.breached']);
});

test('a wrong answer is asked for again in the words of the host', async () => {
  const wrong = answered('{"a":"canary"}', { faults: [{ instancePath: '/a', message: 'must be number' }] });
  const { asks, last, types } = await converse(wrong, wrong, wrong);
  assert.match(asks[1]!.correction!, /\/a must be number/);
  assert.ok(!asks[1]!.correction!.includes('canary'));
  assert.equal(asks[1]!.maxOutputTokens, 50);
  assert.ok(last.kind === 'failed' && last.code === 'envelope_invalid');
  assert.equal(last.events[0]!.payload.finalReason, 'schema-violation');
  assert.deepEqual(types.filter((type) => type === 'envelope.retry.attempted').length, 2);
});

test('prose alone is asked for once more as JSON', async () => {
  const prose = answered('I would rather talk.');
  const { last, types, asks } = await converse(prose, prose, prose, answered('{"a":1}'));
  assert.equal(last.kind, 'done');
  assert.deepEqual(types.slice(-1), ['envelope.nlToFormat.engaged']);
  assert.equal(asks.at(-1)!.isCoercion, true);
  const never = await converse(prose, prose, prose, prose);
  assert.ok(never.last.kind === 'failed' && never.last.events[0]!.payload.totalAttempts === 4);
});

test('a refusal is never repeated', async () => {
  const { last, types } = await converse(answered('No.', { finish: 'refusal' }));
  assert.ok(last.kind === 'failed' && last.code === 'envelope_refusal');
  assert.deepEqual(types, ['envelope.refusal']);
  assert.ok(!JSON.stringify(last.details).includes('No.'));
});

test('JSON is found in prose and repaired where it is broken', async () => {
  const path = async (text: string) => {
    const found = await recoverJson(text);
    return found.ok ? `${found.path} ${JSON.stringify(found.value)}` : found;
  };
  assert.equal(await path('Here: {"a":"}"} done'), 'brace-walker {"a":"}"}');
  assert.equal(await path("{'a': 1,}"), 'jsonrepair {"a":1}');
  assert.equal(await path('{"a": [1, 2'), 'jsonrepair {"a":[1,2]}');
  assert.deepEqual(await path('7'), { ok: false, isProse: true });
  assert.deepEqual(await path(''), { ok: false, isProse: true });
});
