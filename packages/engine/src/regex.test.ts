import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { indexOfText } from './json.ts';
import { compileRegex, REGEX_LIMITS } from './regex.ts';

describe('compileRegex', () => {
  for (const pattern of [
    '^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$',
    '\\p{L}{2,50}',
    '[]a{9]{3}',
    '[[:alpha:]]{5}',
    '\\x{41}{2}',
    'a{,5}',
    '(?i)(?P<word>\\w+)@(example|test)\\.(com|org)',
  ])
    test(`accepts ${pattern}`, () => assert.equal(compileRegex(pattern).pattern, pattern));

  for (const pattern of [
    'x{1000}x{1000}',
    '(((abc){10}){10}){10}',
    '((a{30}){30}|b)',
    '(?:x{1,900}y){2}',
    '\\Q[\\Ex{1000}]',
    '(a)\\1',
    '(?<=a)b',
    '(',
    'a'.repeat(600),
  ])
    test(`refuses ${pattern.slice(0, 40)}`, () => assert.throws(() => compileRegex(pattern), Error));

  test('is refused or compiled soon, whatever it is', () => {
    const before = performance.now();
    for (const unit of ['x{1000}', '(((a{9}){9}){9}){9}', '\\pL{99}', '(a|b|c){99}', '[^a]{500}', '(?:(?:'])
      assert.doesNotThrow(() => {
        try {
          compileRegex(unit.repeat(30));
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      });
    assert.ok(performance.now() - before < 20_000);
  });

  test('says what a match can cost', () => {
    const regex = compileRegex('(a|b)*c');
    assert.ok(regex.work(10) < REGEX_LIMITS.workMax);
    assert.ok(regex.work(1_000_000) > REGEX_LIMITS.workMax);
  });
});

describe('indexOfText', () => {
  test('agrees with the built-in search', () => {
    for (const [text, part] of [
      ['abcabcabd', 'abcabd'],
      [`${'ab'.repeat(600)}abc`, `${'ab'.repeat(500)}abc`],
      ['a'.repeat(3_000), `${'a'.repeat(999)}b`],
      [`${'a'.repeat(2_000)}b`, `${'a'.repeat(999)}b`],
      ['abc', ''],
      ['abc', 'abcd'],
    ] as const)
      assert.equal(indexOfText(text, part, 0), text.indexOf(part));
  });
});
