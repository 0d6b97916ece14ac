import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelFailure } from '../model.ts';
import { costAtMost, costOf, estimateInput, estimateTokens, outputThatFits } from './estimate.ts';
import { nextAfter, TRIES_MAX } from './failure.ts';
import { cutText } from './merge.ts';

test('estimates are above what tokenizers count', () => {
  assert.equal(estimateTokens('Hello there'), 4);
  assert.equal(estimateTokens('x'.repeat(65)), 44);
  const image = { type: 'image', mimeType: 'image/png', data: new Uint8Array(9) } as const;
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
    { role: 'tool', toolCallId: 'c', name: 't', content: { a: 1 } },
  ] as const;
  assert.equal(estimateInput({ messages, maxOutputTokens: 1 }), 3 * 16 + 3 + 4 + 6_500 + 3);
});

test('cost is whole billionths of a dollar, and never above what was reserved', () => {
  const price = { input: 3_000, output: 15_000, cacheRead: 300, cacheWrite: 3_750 };
  const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 20 };
  assert.equal(costOf(price, usage), 20 * 3_000 + 60 * 300 + 20 * 3_750 + 10 * 15_000);
  assert.ok(costOf(price, usage) <= costAtMost(price, 100, 10));
  assert.equal(costOf({ input: 0.5, output: 0 }, { inputTokens: 3, outputTokens: 0 }), 2);
});

test('the output bound is lowered to what is left, but not below what is of use', () => {
  const call = { inputTokens: 100, outputTokens: 4_000, price: { input: 10, output: 100 } };
  assert.equal(outputThatFits(call, {}), 4_000);
  assert.equal(outputThatFits(call, { tokens: 1_100 }), 1_000);
  assert.equal(outputThatFits(call, { tokens: 1_100, cost: 1_000 + 30_000 }), 300);
  assert.equal(outputThatFits(call, { tokens: 355 }), null);
  assert.equal(outputThatFits({ ...call, outputTokens: 10 }, { tokens: 110 }), 10);
});

test('what follows from a failure', () => {
  const after = (kind: ModelFailure['kind'], tried = {}, facts = {}) =>
    nextAfter(new ModelFailure(kind, 'x', facts), { broken: 1, waits: 0, waitedMs: 0, ...tried });
  assert.deepEqual(after('limited', {}, { retryAfterMs: 7_000 }), { kind: 'same', waitMs: 7_000 });
  assert.deepEqual(after('limited', { waitedMs: 55_000 }, { retryAfterMs: 7_000 }), {
    kind: 'failed',
    code: 'provider_quota_exhausted',
    retriable: true,
    retryAfterMs: 7_000,
  });
  assert.deepEqual(after('limited', { waits: 2 }, { retryAfterMs: 0 }), { kind: 'same', waitMs: 2_000 });
  assert.equal(after('not-sent').kind, 'same');
  assert.equal(after('broken').kind, 'another');
  assert.deepEqual(after('broken', { broken: TRIES_MAX }), {
    kind: 'failed',
    code: 'provider_unavailable',
    retriable: true,
  });
  for (const kind of ['too-long', 'unknown-model', 'key-rejected', 'rejected'] as const) {
    const next = after(kind);
    assert.ok(next.kind === 'failed' && !next.retriable, kind);
  }
});

test('long text is cut between characters', () => {
  const text = `${'x'.repeat(8_191)}\u{1f600}${'y'.repeat(9_000)}`;
  const pieces = cutText(text);
  assert.equal(pieces.join(''), text);
  for (const piece of pieces) assert.ok(piece.length <= 8_192 && piece.isWellFormed());
});
