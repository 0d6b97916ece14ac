import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import { llmCacheKey } from './index.ts';

/** Sorted keys are all that RFC 8785 asks of values that JSON can hold. */
function canonicalize(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalize(value[key]!)}`).join(',')}}`;
}

const tools = { sha256: (text: string) => createHash('sha256').update(text).digest('hex'), canonicalize };
const keyOf = (request: JsonObject): string => llmCacheKey(request, tools);
const hello: JsonObject = {
  provider: 'anthropic',
  model: 'claude-x',
  messages: [{ role: 'user', content: 'hello' }],
};

const COUNTED = ['temperature', 'topP', 'topK', 'responseFormat', 'maxOutputTokens', 'stop', 'seed'];
const IGNORED = [
  'timeoutMs',
  'traceparent',
  'requestId',
  'x-request-id',
  'maxRetries',
  'credentialRef',
  'tenantId',
  'runId',
];

describe('the cache key of a request to a model', () => {
  test('follows the published recipe', () => {
    assert.equal(keyOf(hello), 'c92498949e9cc0e38bb2887e88e55b6936932e219b8344f0a7059b1de960073d');
  });

  test('does not change with how the request travels', () => {
    const names = fc.constantFrom(...IGNORED, 'stream', 'metadata', 'user', 'timeout');
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), (extra) => {
        assert.equal(keyOf({ ...hello, ...(extra as JsonObject) }), keyOf(hello));
      }),
    );
  });

  test('changes with everything that can change the answer, known or not', () => {
    const names = fc.constantFrom(...COUNTED, 'safetySettings', 'max_tokens', 'thinking', 'logitBias');
    fc.assert(
      fc.property(names, fc.jsonValue(), fc.jsonValue(), (name, one, other) => {
        const [left, right] = [one as Json, other as Json];
        const same = canonicalize(left) === canonicalize(right);
        assert.equal(keyOf({ ...hello, [name]: left }) === keyOf({ ...hello, [name]: right }), same);
        assert.notEqual(keyOf({ ...hello, [name]: left }), keyOf(hello));
      }),
    );
  });

  test('keeps an option that the recipe does not know under its provider', () => {
    const named = { ...hello, providerOptions: { 'vendor.anthropic.thinking': 7 } };
    assert.equal(keyOf({ ...hello, thinking: 7 }), keyOf(named));
  });

  test('takes tools in any order, and messages in theirs', () => {
    // U+FF5E sorts after U+1F600 by UTF-16 code unit and before it by code point.
    const [one, two, three] = [{ name: '\u{1f600}' }, { name: '\uff5e' }, { name: 'a' }];
    const key = keyOf({ ...hello, tools: [three, one, two] });
    assert.equal(keyOf({ ...hello, tools: [two, one, three] }), key);
    let text = '';
    llmCacheKey(
      { ...hello, tools: [two, one, three] },
      { ...tools, canonicalize: (value) => (text = canonicalize(value)) },
    );
    assert.ok(text.indexOf('\u{1f600}') < text.indexOf('\uff5e'));
    const [first, second] = [
      { role: 'user', content: '1' },
      { role: 'user', content: '2' },
    ];
    assert.notEqual(
      keyOf({ ...hello, messages: [first, second] }),
      keyOf({ ...hello, messages: [second, first] }),
    );
    assert.notEqual(keyOf({ ...hello, messages: ['\u00e9'] }), keyOf({ ...hello, messages: ['e\u0301'] }));
  });

  test('needs provider, model and messages', () => {
    for (const field of ['provider', 'model', 'messages']) {
      const { [field]: _left, ...rest } = hello;
      assert.throws(() => keyOf(rest), { code: 'invalid_argument', details: { field } });
    }
  });
});
