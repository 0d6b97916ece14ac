/**
 * Full-text search over names, tags, connectors, type ids and descriptions. Every term must match a word of the pack or the
 * beginning of one. A search visits each pack once, with a few comparisons per term.
 */

import type { PackKind } from '@gantry/packs';
import { invalid, type OpenwopError } from '@gantry/protocol';
import type { Catalogue, PackSummary } from '../catalogue/catalogue.ts';

const WHOLE_NAME = 1_000;
const WHOLE_TYPE_ID = 500;
/** Deprecated packs rank below equal matches. */
const DEPRECATED_SHARE = 0.5;

export interface SearchQuery {
  readonly q: string;
  readonly kind?: PackKind;
  readonly cursor?: string;
  readonly limit: number;
}

export interface SearchAnswer {
  readonly total: number;
  readonly results: readonly PackSummary[];
  readonly nextCursor?: string;
}

/** The order of results: yanked packs last, then by score, then by name. */
interface Rank {
  readonly yanked: boolean;
  readonly score: number;
  readonly name: string;
}

export type Search = (catalogue: Pick<Catalogue, 'summaries'>, query: SearchQuery) => SearchAnswer;

export function createSearch(): Search {
  const known = new WeakMap<PackSummary, PackWords>();
  const wordsOf = (pack: PackSummary): PackWords => {
    const words = known.get(pack) ?? packWords(pack);
    known.set(pack, words);
    return words;
  };
  return (catalogue, { q, kind, cursor, limit }) => {
    const terms = termsOf(q);
    const whole = q.trim().toLowerCase();
    const isAsked = terms.length > 0;
    const ranked: (Rank & { readonly pack: PackSummary })[] = [];
    for (const pack of catalogue.summaries()) {
      if (kind !== undefined && pack.kind !== kind) continue;
      const score = isAsked ? match(pack, wordsOf(pack), terms, whole) : newness(pack);
      if (score > 0) ranked.push({ yanked: pack.yanked, score, name: pack.name, pack });
    }
    ranked.sort(compareRanks);
    return pageOf(ranked, cursor, limit);
  };
}

function match(pack: PackSummary, words: PackWords, terms: readonly string[], whole: string): number {
  let score = 0;
  for (const term of terms) {
    const found = fit(words, term);
    if (found === 0) return 0;
    score += found;
  }
  if (pack.name.toLowerCase() === whole) score += WHOLE_NAME;
  else if (pack.typeIds.some((typeId) => typeId.toLowerCase() === whole)) score += WHOLE_TYPE_ID;
  return pack.deprecated ? score * DEPRECATED_SHARE : score;
}

/** Without a query, the newest first. */
const newness = (pack: PackSummary): number => Math.max(1, Date.parse(pack.publishedAt) || 1);

/** By code units, so that the order does not depend on the locale. */
function compareRanks(left: Rank, right: Rank): number {
  if (left.yanked !== right.yanked) return left.yanked ? 1 : -1;
  if (left.score !== right.score) return right.score - left.score;
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

/** For page addresses, which may be edited by hand. */
export const isCursor = (cursor: string): boolean => readCursor(cursor) !== undefined;

function pageOf(
  ranked: readonly (Rank & { readonly pack: PackSummary })[],
  cursor: string | undefined,
  limit: number,
): SearchAnswer {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && after === undefined) throw noCursor();
  const from = after === undefined ? 0 : ranked.findIndex((rank) => compareRanks(rank, after) > 0);
  const page = from === -1 ? [] : ranked.slice(from, from + limit);
  const last = page.at(-1);
  const isMore = from !== -1 && from + limit < ranked.length;
  return {
    total: ranked.length,
    results: page.map(({ pack }) => pack),
    ...(isMore && last !== undefined && { nextCursor: cursorOf(last) }),
  };
}

/** Names the last result, not an offset, so that packs published meanwhile neither repeat nor hide a result. */
const cursorOf = ({ yanked, score, name }: Rank): string =>
  Buffer.from(JSON.stringify([yanked, score, name])).toString('base64url');

function readCursor(cursor: string): Rank | undefined {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(read)) return undefined;
  const [yanked, score, name]: unknown[] = read;
  const isRank = typeof yanked === 'boolean' && typeof score === 'number' && typeof name === 'string';
  return isRank ? { yanked, score, name } : undefined;
}

const noCursor = (): OpenwopError =>
  invalid('query/cursor is not valid. Start again without it.', {
    fields: [{ field: 'query/cursor', problem: 'is not a cursor of this search' }],
  });

const QUERY_CHARS_MAX = 200;
const QUERY_TERMS_MAX = 10;
/** Per pack. The name comes first; words at the end of a long description are dropped. */
const WORDS_MAX = 1_000;
const WORD_CHARS_MAX = 64;
/** The maximum number of words compared for a prefix. */
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

const termsOf = (query: string): string[] =>
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
interface PackWords {
  readonly words: readonly string[];
  readonly weights: readonly number[];
}

function packWords(pack: PackSummary): PackWords {
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
function fit({ words, weights }: PackWords, term: string): number {
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
