/** Documents as rows of PostgreSQL, made before their transaction: it is not to wait for words and grams. */
import { setImmediate } from 'node:timers/promises';
import { foldedFields, wordsOfFields } from '../capabilities/search/words.ts';
import { stopwatch } from '../deadline.ts';
import type { SearchDocument } from '../ports/search.ts';
import { gramHashes, lexemesOf, type SearchIndex } from './search-indexes.ts';

export interface SearchRow {
  readonly id: string;
  readonly doc: string;
  readonly folded: string;
  readonly words: number;
  readonly lexemes: string;
  readonly grams: string;
  readonly bytes: number;
}

/** Others have their turn after so long. */
const TURN_MS = 5;

/** Makes way for others when it is called and they have waited long enough. */
function takingTurns(): () => Promise<void> {
  let isOver = stopwatch(TURN_MS);
  return async () => {
    if (!isOver()) return;
    await setImmediate();
    isOver = stopwatch(TURN_MS);
  };
}

type Id = Pick<SearchIndex, 'id'>;

/** [m] Of 64 KB: 12 ms in three turns on an idle core. */
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

/** Text in one statement: a longer one takes longer to send than others should wait. */
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
