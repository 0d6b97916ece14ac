/** Full text over 100,000 documents in the embedded database, beside direct calls of FTS5. */
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseQuery } from '../packages/surfaces/src/capabilities/search/parse-query.ts';
import { SEARCH_LIMITS } from '../packages/surfaces/src/capabilities/search/surface.ts';
import type { SearchPort } from '../packages/surfaces/src/ports/search.ts';
import { openDatabase } from '../packages/surfaces/src/sqlite/database.ts';
import { embeddedSearch } from '../packages/surfaces/src/sqlite/search.ts';
import { read, write } from '../packages/surfaces/src/testing/calls.ts';
import { type Random, seededRandom } from '../packages/surfaces/src/testing/random-vectors.ts';
import { spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const [WORDS, WORDS_IN_TEXT, K, ROUNDS, BATCH] = [20_000, 80, 10, 20, 500];
const TENANT = 'bench';
const EVERYTHING = { kind: 'all', of: [] } as const;

const wordOf = (random: Random): string =>
  Array.from({ length: 4 + Math.floor(random() * 6) }, () =>
    String.fromCharCode(97 + Math.floor(random() * 26)),
  ).join('');

/** As in languages, few words are most of a text. */
export function textsOf(count: number, random: Random): { words: string[]; texts: string[] } {
  const words = Array.from({ length: WORDS }, () => wordOf(random));
  const pick = (): string => words[Math.floor(WORDS ** random()) - 1]!;
  const texts = Array.from({ length: count }, () => Array.from({ length: WORDS_IN_TEXT }, pick).join(' '));
  return { words, texts };
}

export function openDirect(folder: string, texts: readonly string[]) {
  const database = new DatabaseSync(path.join(folder, 'direct.db'));
  database.exec(`
    pragma page_size = 16384;
    pragma journal_mode = wal;
    pragma cache_size = -16384;
    create virtual table direct using fts5(text);
    begin;
  `);
  const insert = database.prepare('insert into direct (rowid, text) values (?, ?)');
  for (const [index, text] of texts.entries()) insert.run(index, text);
  database.exec('commit');
  const ask = database.prepare(
    'select rowid, rank, text from direct where direct match ? order by rank limit ?',
  );
  return { ask: (query: string) => ask.all(query, K), close: () => database.close() };
}

export async function fill(port: SearchPort, texts: readonly string[]): Promise<void> {
  for (let first = 0; first < texts.length; first += BATCH) {
    const batch = texts.slice(first, first + BATCH);
    const documents = batch.map((text, index) => ({ id: String(first + index), fields: { text } }));
    await port.index({ index: 'i', documents }, write(TENANT));
  }
}

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function compare(port: SearchPort, what: string, query: string, direct?: () => unknown): Promise<Row> {
  const [bare, own]: [number[], number[]] = [[], []];
  const asked = { index: 'i', query: parseQuery(query), k: K, filter: EVERYTHING };
  for (let round = 0; round < ROUNDS; round++) {
    if (direct) bare.push(await timed(direct));
    own.push(await timed(() => port.query(asked, read(TENANT))));
  }
  const [p50, directP50] = [spreadOf(own)?.p50, spreadOf(bare)?.p50];
  return {
    what,
    'FTS5 p50 ms': round(directP50),
    'searchIndex p50 ms': round(p50),
    'of direct': p50 !== undefined && directP50 !== undefined ? round(p50 / directP50) : null,
  };
}

export async function fullText(settings: Settings): Promise<Report> {
  const count = settings.rounds > 1 ? 100_000 : 2_000;
  const { words, texts } = textsOf(count, seededRandom(1));
  const embedded = openDatabase({ dataDir: freshFolder(settings.dataDir) });
  const port = embeddedSearch(embedded, SEARCH_LIMITS);
  await fill(port, texts);
  const direct = openDirect(freshFolder(settings.dataDir), texts);
  const [common, usual, rare] = [words.slice(2, 4), words.slice(300, 303), words.slice(9_000, 9_002)];
  const rows = [];
  for (const [what, asked] of Object.entries({ common, usual, rare }))
    rows.push(await compare(port, `${what} words`, asked.join(' '), () => direct.ask(asked.join(' OR '))));
  rows.push(await compare(port, 'a part of a word', usual[0]!.slice(1)));
  rows.push(await compare(port, 'two characters', 'qz'));
  direct.close();
  await embedded.close();
  return { title: `Full text over ${count} documents of ${WORDS_IN_TEXT} words`, rows };
}
