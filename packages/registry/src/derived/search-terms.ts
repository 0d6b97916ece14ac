/** Words of packs and of queries. */
import type { PackSummary } from '../catalogue/catalogue.ts';

const QUERY_CHARS_MAX = 200;
const QUERY_TERMS_MAX = 10;
/** Per pack. The name comes first; words at the end of a long description are dropped. */
const WORDS_MAX = 1_000;
const WORD_CHARS_MAX = 64;
/** How many words that begin with a term are compared. */
const COMPLETIONS_MAX = 50;

const WEIGHTS = { name: 8, tag: 6, connector: 6, typeId: 4, action: 4, description: 2 } as const;

/** `sendMessage` gives `sendmessage`, `send` and `message`. */
function* wordsOf(text: string): Generator<string> {
  const plain = text.normalize('NFKC');
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    yield word.toLowerCase().slice(0, WORD_CHARS_MAX);
    const parts = word.match(/\p{Lu}?[\p{Ll}\p{N}]+/gu) ?? [];
    if (parts.length > 1) for (const part of parts) yield part.toLowerCase().slice(0, WORD_CHARS_MAX);
  }
}

export const termsOf = (query: string): string[] =>
  [
    ...new Set(
      query
        .slice(0, QUERY_CHARS_MAX)
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu)
        ?.map((term) => term.slice(0, WORD_CHARS_MAX)),
    ),
  ].slice(0, QUERY_TERMS_MAX);

/** The words of a pack, sorted, each with the weight of the best field it appears in. */
export interface PackWords {
  readonly words: readonly string[];
  readonly weights: readonly number[];
}

export function packWords(pack: PackSummary): PackWords {
  const best = new Map<string, number>();
  const take = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) {
      if (best.size >= WORDS_MAX && !best.has(word)) return;
      best.set(word, Math.max(best.get(word) ?? 0, weight));
    }
  };
  take(pack.name, WEIGHTS.name);
  for (const tag of pack.tags) take(tag, WEIGHTS.tag);
  if (pack.connector) {
    take(`${pack.connector.id} ${pack.connector.displayName}`, WEIGHTS.connector);
    for (const { displayName } of pack.connector.actions) take(displayName, WEIGHTS.action);
  }
  take(pack.description, WEIGHTS.description);
  for (const typeId of pack.typeIds) take(typeId, WEIGHTS.typeId);
  const words = [...best.keys()].sort();
  return { words, weights: words.map((word) => best.get(word) ?? 0) };
}

/** How well a term matches: a whole word counts twice as much as a prefix. 0 is no match. */
export function fit({ words, weights }: PackWords, term: string): number {
  let from = 0;
  for (let to = words.length; from < to; ) {
    const middle = (from + to) >>> 1;
    if (words[middle]! < term) from = middle + 1;
    else to = middle;
  }
  let best = 0;
  for (let i = from; i < words.length && i < from + COMPLETIONS_MAX; i++) {
    const word = words[i]!;
    if (!word.startsWith(term)) break;
    best = Math.max(best, weights[i]! * (word === term ? 2 : 1));
  }
  return best;
}
