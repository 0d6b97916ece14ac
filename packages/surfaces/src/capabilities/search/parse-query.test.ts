import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseQuery } from './parse-query.ts';
import { fold, wordsOf } from './words.ts';

const CASES: readonly [string, string[], string[]][] = [
  ['durable runs', ['durable', 'runs'], []],
  ['Durable, durable! runs?', ['durable', 'runs'], []],
  ['"durable runs" log', ['durable runs', 'log'], []],
  ['red -blue -"light green"', ['red'], ['blue', 'light green']],
  ['dura* "event lo"*', ['dura*', 'event lo*'], []],
  ['e-mail well-known', ['e', 'mail', 'well', 'known'], []],
  ['-e-mail', [], ['e mail']],
  ['15" screen', ['15', 'screen'], []],
  ['"never closed', ['never', 'closed'], []],
  ['a AND b OR NOT c', ['a', 'and', 'b', 'or', 'not', 'c'], []],
  ['title:x NEAR(a b)', ['title', 'x', 'near', 'a', 'b'], []],
  ['- -- * "" ""*', [], []],
  ['全文検索 db', ['全 文 検 索', 'db'], []],
  ['a \u19e0\u2e80 b', ['a', 'b'], []],
];

for (const [text, any, none] of CASES)
  test(`${text} asks for ${any.join(' | ') || 'nothing'}`, () => {
    const parsed = parseQuery(text);
    const shown = (terms: typeof parsed.any) =>
      terms.map(({ words, isPrefix }) => words.join(' ') + (isPrefix ? '*' : ''));
    assert.deepEqual([shown(parsed.any), shown(parsed.none)], [any, none]);
  });

test('more words than are counted, wherever they stand and however often, are looked for as they stand', () => {
  const words = (many: number): string => Array(many).fill('a').join(' ');
  const asItStands = (text: string) => ({ any: [], none: [], literal: text.trim() });
  for (const text of [words(101), `"${words(101)}"`, `-"${words(101)}"`, `"${words(60)}" -"${words(41)}"*`])
    assert.deepEqual(parseQuery(text), asItStands(text));
  const phrase = `"${words(25)}" `;
  const again = `${phrase.repeat(4)}b`;
  assert.deepEqual(parseQuery(again), asItStands(again), 'the same again counts again');
  assert.equal(parseQuery(phrase.repeat(4)).any.length, 1);
  assert.equal(parseQuery(`"${words(100)}"`).any[0]?.words.length, 100);
});

test('words are letters and digits of any script, whatever was typed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      for (const word of wordsOf(text)) assert.match(word, /^[\p{L}\p{N}\p{M}\p{Co}]+$/u);
    }),
  );
});

test('a part of a text stays a part of it when both are folded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(40), fc.nat(40), (text, from, to) => {
      const part = Array.from(text).slice(from, to).join('');
      assert.ok(fold(`${text}Σ`).includes(fold(part)));
    }),
  );
});
