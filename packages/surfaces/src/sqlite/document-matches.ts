/**
 * Which documents a change is for.
 *
 * I1  The writer looks through few documents itself. For more there is a scan, which has its own process and its time,
 *     and the writer brings its answer up to date: the change is of exactly those that match when it is made.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { PortWrite } from '../calls/surface-call.ts';
import type { Filter } from '../capabilities/documents/filter.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import { tooManyMatch, tooMuchChanged, tooMuchMatches } from '../capabilities/documents/refusals.ts';
import type { Change } from '../ports/documents.ts';
import type { EmbeddedDatabase } from './database.ts';
import type { RecentChanges } from './document-changes.ts';
import { byRarest, type Collection, findingCollection, SQLITE, type Target } from './document-sql.ts';
import { preparing } from './statements.ts';

/** What the writer looks through itself, and what it looks at again after a scan. */
const NARROW = { documentsMax: 1_000, bytesMax: 8_388_608 };
const AGAIN = { documentsMax: 20_000, bytesMax: 16_777_216 };

export interface Match {
  readonly seq: number;
  readonly id: string;
}

/** What a scan found, and which changes it may not have seen. */
export interface Scanned {
  readonly mark: number;
  /** Null where there was none. One that is gone may have come again as another. */
  readonly collection: number | null;
  readonly matches: readonly Match[];
}

export interface Matching extends Change {
  /** Of all that match together. */
  readonly bytesMax: number;
}

export function matchReads(database: DatabaseSync) {
  const collectionOf = findingCollection(database);
  const prepare = preparing(database);
  const recorded = database.prepare('select 1 from invocations where tenant = ? and journal_key = ?');
  return {
    /** Also for a call that is on record: the writer then looks for nothing. */
    isNarrow(target: Target, filter: Filter, invocation: string): boolean {
      if (recorded.get(target.tenant, invocation)) return true;
      const collection = collectionOf(target);
      if (!collection) return true;
      const text = new QueryText(SQLITE);
      const sql = `select bytes from documents where ${text.reached(byRarest(prepare, collection, filter), filter)}`;
      return isWithin(prepare(sql).iterate(...text.params), NARROW);
    },
    match(target: Target, { filter, matchesMax, bytesMax }: Matching): Omit<Scanned, 'mark'> {
      const collection = collectionOf(target);
      if (!collection) return { collection: null, matches: [] };
      const text = new QueryText(SQLITE);
      const where = text.where(byRarest(prepare, collection, filter), filter);
      const sql = `select seq, id, bytes from documents where ${where} order by seq ${text.limit(matchesMax + 1)}`;
      const rows = prepare(sql).all(...text.params);
      if (rows.length > matchesMax) throw tooManyMatch(matchesMax);
      if (rows.reduce((sum, { bytes }) => sum + Number(bytes), 0) > bytesMax) throw tooMuchMatches(bytesMax);
      const matches = rows.map(({ seq, id }) => ({ seq: Number(seq), id: String(id) }));
      return { collection: collection.collection, matches };
    },
  };
}

function isWithin(
  rows: Iterable<Record<string, unknown>>,
  { documentsMax, bytesMax }: typeof NARROW,
): boolean {
  let [documents, total] = [0, 0];
  for (const { bytes } of rows) {
    total += Number(bytes);
    if (++documents > documentsMax || total > bytesMax) return false;
  }
  return true;
}

export function matchingDocuments(database: DatabaseSync, changes: RecentChanges) {
  const prepare = preparing(database);
  const bytesOf = database.prepare(
    'select bytes from documents where seq in (select value from json_each(?))',
  );
  const matching = (collection: Collection, { filter, matchesMax }: Change, seqs: string | null): Match[] => {
    const text = new QueryText(SQLITE);
    const among = seqs === null ? '' : `seq in (select value from json_each(${text.bind(seqs)})) and `;
    const where = text.where(byRarest(prepare, collection, filter), filter);
    const sql = `select seq, id from documents where ${among}${where} order by seq ${text.limit(matchesMax + 1)}`;
    return prepare(sql)
      .all(...text.params)
      .map(({ seq, id }) => ({ seq: Number(seq), id: String(id) }));
  };
  /** I1 */
  const upToDate = (collection: Collection, change: Change, scanned: Scanned): Match[] => {
    const changed = changes.since(scanned.mark, collection.collection);
    const matches = scanned.collection === collection.collection ? scanned.matches : [];
    if (changed?.size === 0) return [...matches];
    const seqs = changed && JSON.stringify([...changed]);
    if (!seqs || !isWithin(bytesOf.iterate(seqs), AGAIN)) throw tooMuchChanged();
    const same = matches.filter(({ seq }) => !changed.has(seq));
    return [...same, ...matching(collection, change, seqs)].sort((left, right) => left.seq - right.seq);
  };
  return (collection: Collection, change: Change, scanned: Scanned | null): Match[] => {
    const found = scanned ? upToDate(collection, change, scanned) : matching(collection, change, null);
    if (found.length > change.matchesMax) throw tooManyMatch(change.matchesMax);
    return found;
  };
}

/** Null where the writer can look for itself. */
export async function scanFor(
  database: EmbeddedDatabase,
  target: Target,
  change: Matching,
  { invocation }: PortWrite,
): Promise<Scanned | null> {
  const { filter } = change;
  if (filter.kind === 'id' && filter.ids.length <= 1) return null;
  if (await database.read('documents', 'isNarrow', target, filter, invocation.journalKey)) return null;
  const mark = await database.upkeep('documents', 'mark');
  return { mark, ...(await database.read('documents', 'match', target, change)) };
}
