import { setImmediate } from 'node:timers/promises';
import type { Term } from '../capabilities/search/parse-query.ts';
import { foldedFields, wordsOfFields } from '../capabilities/search/words.ts';
import { stopwatch } from '../deadline.ts';
import type { SearchDocument } from '../ports/search.ts';
import type { Sql, Tx } from './connection.ts';

export interface SearchIndex {
  readonly id: number;
  readonly documents: number;
  readonly words: number;
}

export interface Target {
  readonly tenant: string;
  readonly name: string;
}

/** `for update`: other writers of the index wait. */
export async function searchIndex(
  sql: Sql | Tx,
  { tenant, name }: Target,
  lock?: 'for update',
): Promise<SearchIndex | null> {
  const [row] = await sql<SearchIndex[]>`
    select id, documents, words from search_indexes where tenant = ${tenant} and name = ${name}
    ${lock ? sql`for update` : sql``}
  `;
  return row ?? null;
}

/**
 * The id of the index, or the one to create it with. If another id is used in the end, rows have to be computed again.
 */
export async function searchIndexIdFor(sql: Sql, target: Target): Promise<number> {
  const there = await searchIndex(sql, target);
  if (there) return there.id;
  const [row] = await sql<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('search_indexes', 'id')) as id
  `;
  return row!.id;
}

type Id = Pick<SearchIndex, 'id'>;

/** Words contain only letters and digits, so they need no escaping. */
const lexeme = ({ id }: Id, word: string): string => `'${id}/${word}'`;

export const isWord = ({ words, isPrefix }: Term): boolean => words.length === 1 && !isPrefix;

export const termQuery = (index: Id, { words, isPrefix }: Term): string =>
  `(${words.map((word) => lexeme(index, word)).join(' <-> ')}${isPrefix ? ':*' : ''})`;

/** PostgreSQL stores at most this many positions of a word. */
const POSITIONS_MAX = 256;

export function lexemesOf(index: Id, words: readonly string[]): string {
  const positions = new Map<string, { text: string; many: number }>();
  let position = 0;
  for (const word of words) {
    position++;
    const at = positions.get(word);
    if (at === undefined) positions.set(word, { text: String(position), many: 1 });
    else if (at.many < POSITIONS_MAX) {
      at.text += `,${position}`;
      at.many++;
    }
  }
  let lexemes = '';
  for (const [word, { text }] of positions) lexemes += `${lexeme(index, word)}:${text} `;
  return lexemes;
}

const [FNV_OFFSET, FNV_PRIME] = [0x811c9dc5, 0x01000193];

const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, FNV_PRIME);
const continued = (hash: number, bits: number): number => hashed(hash, 0x80 | (bits & 0x3f));

/** FNV-1a over the UTF-8 of a character. */
function hashedCharacter(hash: number, character: number): number {
  if (character < 0x80) return hashed(hash, character);
  if (character < 0x800) return continued(hashed(hash, 0xc0 | (character >> 6)), character);
  if (character < 0x10000) {
    const first = hashed(hash, 0xe0 | (character >> 12));
    return continued(continued(first, character >> 6), character);
  }
  const first = continued(hashed(hash, 0xf0 | (character >> 18)), character >> 12);
  return continued(continued(first, character >> 6), character);
}

/** A number for every three characters: a third of the space. Measured: one pass over 64 KB: 5 ms, with texts 60. */
export function gramHashes({ id }: Id, folded: string): Set<number> {
  let seed = FNV_OFFSET;
  for (const character of `${id}/`) seed = hashed(seed, character.charCodeAt(0));
  const hashes = new Set<number>();
  let [first, second] = [-1, -1];
  for (let at = 0; at < folded.length; ) {
    const third = folded.codePointAt(at)!;
    at += third > 0xffff ? 2 : 1;
    if (first >= 0)
      hashes.add(hashedCharacter(hashedCharacter(hashedCharacter(seed, first), second), third) | 0);
    [first, second] = [second, third];
  }
  return hashes;
}

export interface SearchRow {
  readonly id: string;
  readonly doc: string;
  readonly folded: string;
  readonly words: number;
  readonly lexemes: string;
  readonly grams: string;
  readonly bytes: number;
}

/** How long the event loop may be blocked. */
const TURN_MS = 5;

/** Answers a function that yields to the event loop when `TURN_MS` have passed. */
function takingTurns(): () => Promise<void> {
  let isOver = stopwatch(TURN_MS);
  return async () => {
    if (!isOver()) return;
    await setImmediate();
    isOver = stopwatch(TURN_MS);
  };
}

/** Measured for 64 KB: 12 ms in three turns on an idle core. */
export async function searchRows(index: Id, documents: readonly SearchDocument[]): Promise<SearchRow[]> {
  const turn = takingTurns();
  const rows: SearchRow[] = [];
  for (const { id, fields } of documents) {
    const doc = JSON.stringify(fields);
    const words = wordsOfFields(fields);
    await turn();
    const lexemes = lexemesOf(index, words);
    await turn();
    const folded = foldedFields(fields);
    const grams = `{${[...gramHashes(index, folded)].join(',')}}`;
    const bytes = Buffer.byteLength(id) + Buffer.byteLength(doc);
    rows.push({ id, doc, folded, words: words.length, lexemes, grams, bytes });
    await turn();
  }
  return rows;
}

/** The most text in one statement: sending a longer one would block other queries too long. */
const BATCH_CHARACTERS_MAX = 262_144;

const charactersOf = ({ doc, folded, lexemes, grams }: SearchRow): number =>
  doc.length + folded.length + lexemes.length + grams.length;

export function batchesOf(rows: readonly SearchRow[]): SearchRow[][] {
  const batches: SearchRow[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    characters += charactersOf(row);
    if (characters <= BATCH_CHARACTERS_MAX) batches.at(-1)!.push(row);
    else {
      batches.push([row]);
      characters = charactersOf(row);
    }
  }
  return batches;
}
