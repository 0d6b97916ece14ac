/**
 * A query: words, "phrases", -excluded ones, and prefixes with *. A document needs one of the words. Nothing
 * else has a meaning, so every text but an empty one is valid.
 */
import { OpenwopError } from '@gantry/protocol';
import { fold, isUnspaced, wordsOf } from './words.ts';

/** One word, or several adjacent ones. */
export interface Term {
  readonly words: readonly [string, ...string[]];
  /** The last word is a prefix. */
  readonly isPrefix: boolean;
}

export interface ParsedQuery {
  readonly any: readonly Term[];
  readonly none: readonly Term[];
  /** The literal query, folded. */
  readonly literal: string;
}

/** The total of all terms, since each word of a phrase has a cost. A longer query is searched as plain text. */
export const WORDS_MAX = 100;

const PARTS = /(?<not>-?)"(?<phrase>[^"]*)"(?<beginning>\*?)|(?<chunk>\S+)/g;

/** Throws `search_query_syntax_error`. */
export function parseQuery(text: string): ParsedQuery {
  const literal = fold(text.trim());
  if (literal === '') throw syntaxError('The query is empty.');
  const [any, none]: [Term[], Term[]] = [[], []];
  for (const { groups = {} } of text.matchAll(PARTS)) {
    const { not, phrase, beginning, chunk = '' } = groups;
    if (phrase !== undefined) (not === '-' ? none : any).push(...termOf(wordsOf(phrase), beginning === '*'));
    else if (/^-[^-]/.test(chunk)) none.push(...termOf(wordsOf(chunk), chunk.endsWith('*')));
    else any.push(...chunkTerms(chunk));
  }
  if ([...any, ...none].reduce((many, { words }) => many + words.length, 0) > WORDS_MAX)
    return { any: [], none: [], literal };
  return { any: distinct(any), none: distinct(none), literal };
}

const syntaxError = (message: string): OpenwopError =>
  new OpenwopError('search_query_syntax_error', { message });

function termOf([first, ...more]: readonly string[], isPrefix: boolean): Term[] {
  return first === undefined ? [] : [{ words: [first, ...more], isPrefix }];
}

/** `e-mail` is two words; characters of a script without spaces are one phrase. */
function chunkTerms(chunk: string): Term[] {
  const runs: string[][] = [];
  let joins = false;
  for (const word of wordsOf(chunk)) {
    const isPart = isUnspaced(word);
    if (isPart && joins) runs.at(-1)!.push(word);
    else runs.push([word]);
    joins = isPart;
  }
  return runs.flatMap((run, index) => termOf(run, index === runs.length - 1 && chunk.endsWith('*')));
}

const distinct = (terms: readonly Term[]): Term[] => [
  ...new Map(terms.map((term) => [JSON.stringify([term.words, term.isPrefix]), term])).values(),
];
