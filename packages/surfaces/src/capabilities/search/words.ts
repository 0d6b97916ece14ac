/**
 * Tokenization, the same in every backend: runs of letters and digits without case and accents; scripts
 * without spaces are split into characters. Threads load this file.
 */
import type { Fields } from '../../ports/search.ts';

const WORDS =
  /[[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]&&[\p{L}\p{N}\p{M}]]\p{M}*|[[\p{L}\p{N}\p{M}\p{Co}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]+/gv;
const UNSPACED =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/v;
const ACCENTS = /[\u0300-\u036f]/g;

/** PostgreSQL stores no word above 2 KB. */
const WORD_CHARACTERS_MAX = 100;

/** Keeps phrases from matching across fields. */
const BETWEEN_FIELDS = '\ue000';

export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase();
  return (plain.match(WORDS) ?? []).map((word) =>
    word.length <= WORD_CHARACTERS_MAX ? word : Array.from(word).slice(0, WORD_CHARACTERS_MAX).join(''),
  );
}

export const isUnspaced = (word: string): boolean => UNSPACED.test(word);

export const wordsOfFields = (fields: Fields): string[] =>
  Object.values(fields).flatMap((value, index) => [
    ...(index === 0 ? [] : [BETWEEN_FIELDS]),
    ...wordsOf(String(value)),
  ]);

/** Text for finding parts of words. In lower case, only the final sigma depends on its neighbours. */
export const fold = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

export const foldedFields = (fields: Fields): string =>
  Object.values(fields)
    .map((value) => fold(String(value)))
    .join(BETWEEN_FIELDS);

const GRAM = 3;
/** Enough to leave few documents to check. */
const GRAMS_MAX = 12;

/** Sequences of three characters that a text with this part must contain; none for a shorter part. */
export function fewGramsOf(folded: string): string[] {
  const characters = Array.from(folded);
  const grams = new Set<string>();
  for (let end = GRAM; end <= characters.length && grams.size < GRAMS_MAX; end++)
    grams.add(characters.slice(end - GRAM, end).join(''));
  return [...grams];
}

/** Below any score by words; a document scores higher if the part is a larger share of its text. */
export const partScore = (partLength: number, textLength: number): number =>
  (1e-12 * partLength) / Math.max(1, textLength);
