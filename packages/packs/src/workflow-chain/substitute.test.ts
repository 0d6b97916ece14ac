import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { refuses } from '../testing/chains.ts';
import { substitution } from './parameters.ts';

const NONE = { sensitive: new Set<string>(), required: new Set<string>() };
const values = { text: 'two', n: 3, yes: true, nothing: null, list: [1, 'b'], object: { x: 1 } };
const { value, text } = substitution(values, NONE);

describe('substitution', () => {
  test('a whole token keeps the type of the value', () => {
    for (const [name, expected] of Object.entries(values))
      assert.deepEqual(value(`{{params.${name}}}`), expected);
  });

  test('a token inside text becomes text', () => {
    assert.equal(value('{{params.text}} of {{params.n}}: {{params.yes}}'), 'two of 3: true');
    assert.equal(value('{{params.n}}{{params.n}}'), '33');
    assert.equal(value(' {{params.list}}'), ' [1,"b"]');
    assert.equal(text('{{params.object}}'), '{"x":1}');
  });

  test('an unknown parameter is the empty string', () => {
    assert.equal(value('{{params.other}}'), '');
    assert.equal(value('<{{params.constructor}}>'), '<>');
  });

  test('only the exact form is a token', () => {
    for (const literal of ['{{ params.n }}', '{{params.9}}', '{params.n}', '{{params.a-b}}', '{{inputs.n}}'])
      assert.equal(value(literal), literal);
  });

  test('never writes down a secret, nor a required parameter that has no value', () => {
    const strict = substitution(
      { key: 's3cret' },
      { sensitive: new Set(['key']), required: new Set(['url']) },
    );
    const error = refuses(() => strict.value('{{params.key}}'), 'sensitive_param_not_deferrable');
    assert.ok(!JSON.stringify(error.message + JSON.stringify(error.details)).includes('s3cret'));
    refuses(() => strict.value('at {{params.url}}'), 'chain_parameter_invalid', { path: '/url' });
  });

  test('stops when one value is named too often', () => {
    const big = substitution({ x: 'y'.repeat(100_000) }, NONE);
    refuses(() => big.value('{{params.x}} '.repeat(50)), 'payload_too_large');
    const list = substitution({ x: ['y'.repeat(100_000)] }, NONE);
    refuses(() => Array.from({ length: 50 }, () => list.value('{{params.x}}')), 'payload_too_large');
  });

  test('takes linear time on a text of broken tokens', () => {
    const broken = '{{params.'.repeat(100_000) + 'x'.repeat(100_000);
    assert.equal(value(broken), broken);
  });

  test('a value that looks like a token is not substituted again', () => {
    const template = fc.array(fc.oneof(fc.constant('{{params.x}}'), fc.constantFrom(' ', 'a', '}')));
    const quoting = fc.string().map((around) => `${around}{{params.y}}${around}`);
    fc.assert(
      fc.property(template, quoting, (parts, x) => {
        const filled = substitution({ x, y: 'NEVER' }, NONE).value(parts.join(''));
        const expected = parts.map((part) => (part === '{{params.x}}' ? x : part)).join('');
        assert.equal(filled, expected);
      }),
    );
  });
});
