import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { composePrompt } from './compose.ts';
import { readPromptRef } from './prompt-ref.ts';

type Variable = NonNullable<PromptTemplate['variables']>[number];

const template = (text: string, ...variables: Variable[]): PromptTemplate => ({
  templateId: 'greet',
  version: '1.2.0',
  kind: 'user',
  text,
  variables,
});
const needs = (name: string, more: Partial<Variable> = {}): Variable => ({
  name,
  type: 'string',
  required: true,
  ...more,
});
const sha256 = (text: string) => `sha256:${hash('sha256', text, 'hex')}`;
const refused =
  (code: string, details = {}) =>
  (error: unknown) => {
    assert.ok(error instanceof OpenwopError, String(error));
    assert.equal(error.code, code);
    for (const [name, value] of Object.entries(details)) assert.deepEqual(error.details?.[name], value);
    return true;
  };

test('values of every type are put in once, and hashed', () => {
  const { composed, hash, refs, variableHashes, contentTrust } = composePrompt(
    template(
      '{{name}} {{ count }} {{on}} {{list}} {{more}}|{{name}}',
      needs('name'),
      needs('count', { type: 'number' }),
      needs('on', { type: 'boolean' }),
      needs('list', { type: 'array' }),
      needs('more', { type: 'object' }),
    ),
    { name: '{{count}} $& $1', count: 2, on: false, list: [1, 'a'], more: { b: 1, a: 2 }, other: 'unused' },
  );
  assert.equal(composed, '{{count}} $& $1 2 false [1,"a"] {"a":2,"b":1}|{{count}} $& $1');
  assert.equal(hash, sha256(composed));
  assert.deepEqual(refs, ['prompt:greet@1.2.0']);
  assert.equal(variableHashes.more, sha256('{"a":2,"b":1}'));
  assert.equal(contentTrust, 'trusted');
});

test('what is required must have a value; the rest falls back to its default or to nothing', () => {
  const greet = template('[{{a}}{{b}}{{c}}]', needs('a'), needs('b', { required: false, defaultValue: 7 }));
  assert.equal(composePrompt(greet, { a: 'x' }).composed, '[x7]');
  assert.equal(composePrompt(greet, { a: '', b: null }).composed, '[7]');
  assert.throws(() => composePrompt(greet, {}), refused('prompt_variable_unresolved', { variables: ['a'] }));
  assert.throws(() => composePrompt(greet, { a: null }), refused('prompt_variable_unresolved'));
  const odd = template('{{constructor}}', needs('constructor'));
  assert.throws(() => composePrompt(odd, {}), refused('prompt_variable_unresolved'));
});

test('a value of another type is refused and not repeated', () => {
  const values = [
    ['string', 'canary'],
    ['number', 1],
    ['boolean', true],
    ['array', []],
    ['object', {}],
  ] as const;
  for (const [type, good] of values) {
    const one = template('{{a}}', needs('a', { type }));
    assert.ok(composePrompt(one, { a: good }));
    for (const [other, bad] of values)
      if (other !== type)
        assert.throws(
          () => composePrompt(one, { a: bad }),
          (error) => {
            assert.ok(!String(error).includes('canary'));
            return refused('prompt_variable_type_mismatch', { variable: 'a', expected: type })(error);
          },
        );
  }
});

test('secrets are only ever their marker', () => {
  const keyed = template('Use {{key}}.', needs('key', { source: 'secret', defaultValue: 'hunter2' }));
  const { composed, variableHashes } = composePrompt(keyed, { key: '[REDACTED:crm]' }, 'untrusted');
  assert.equal(composed, 'Use [REDACTED:crm].');
  assert.equal(variableHashes.key, sha256('[REDACTED:crm]'));
  for (const key of ['hunter2', '[REDACTED:crm] hunter2', 7])
    assert.throws(
      () => composePrompt(keyed, { key }),
      (error) => {
        assert.ok(!JSON.stringify(error).includes('hunter2') && !String(error).includes('hunter2'));
        return refused('prompt_variable_type_mismatch')(error);
      },
    );
  const optional = template('{{key}}', needs('key', { ...keyed.variables?.[0], required: false }));
  assert.equal(composePrompt(optional, {}).composed, '', 'a default is no secret to use');
});

test('untrusted values stand between markers, what the template says does not', () => {
  const two = template('{{a}} {{b}}', needs('a'), needs('b', { required: false, defaultValue: 'own' }));
  const { composed, contentTrust, variableHashes } = composePrompt(two, { a: 'hi' }, 'untrusted');
  assert.equal(composed, '<UNTRUSTED>hi</UNTRUSTED> own');
  assert.equal(contentTrust, 'untrusted');
  assert.equal(variableHashes.a, sha256('hi'));
});

test('no untrusted value gets out of its markers', () => {
  const one = template('{{a}}', needs('a'));
  const parts = fc.constantFrom('<', '/', 'UNTRUSTED', 'untrusted', '>', '</UNTRUSTED>', ' ', 'x');
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (words) => {
      const { composed } = composePrompt(one, { a: words.join('') }, 'untrusted');
      assert.equal(composed.match(/<\s*\/?\s*UNTRUSTED/gi)?.length, 2, composed);
    }),
  );
});

test('a long value repeated is refused before it fills the memory', () => {
  const many = template('{{a}}'.repeat(10_000), needs('a'));
  assert.throws(() => composePrompt(many, { a: 'x'.repeat(200_000) }), refused('payload_too_large'));
});

test('references are read in both forms, and nothing else', () => {
  assert.deepEqual(readPromptRef('prompt:a.b-c'), { templateId: 'a.b-c' });
  assert.deepEqual(readPromptRef('prompt:a@1.0.0-rc.1'), { templateId: 'a', version: '1.0.0-rc.1' });
  const full = { libraryId: 'vendor.acme.editorialPrompts', templateId: 'a', variableOverrides: { b: 1 } };
  assert.deepEqual(readPromptRef(full), full);
  for (const bad of ['a', 'prompt:', 'prompt:A', 'prompt:a@1', 'prompt:a@1.0.0 ', {}, { templateId: 'A' }, 7])
    assert.throws(() => readPromptRef(bad), refused('prompt_ref_invalid'));
  assert.throws(() => readPromptRef({ ...full, more: 1 }), refused('prompt_ref_invalid'));
});
