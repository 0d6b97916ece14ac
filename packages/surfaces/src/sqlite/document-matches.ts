/**
 * Finds the documents that a change applies to.
 *
 * I1  The writer itself searches few documents. Larger searches are scans, in a separate process with a time
 *     limit, and the writer then updates their result: the change applies to exactly the documents that match
 *     when it is made.
 */
import type { PortWrite } from '../calls/surface-call.ts';
import type { Filter } from '../capabilities/documents/filter.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import { tooManyMatch, tooMuchChanged, tooMuchMatches } from '../capabilities/documents/refusals.ts';
import type { Change, Target } from '../ports/documents.ts';
import type { EmbeddedDatabase } from './database.ts';
import type { RecentChanges } from './document-changes.ts';
import { byRarest, type Collection, findCollection, SQLITE } from './document-sql.ts';
import { isRecorded, type Sql } from './statements.ts';

/** Limits of the documents that the writer searches itself, and of those it checks again after a scan. */
const NARROW = { documentsMax: 1_000, bytesMax: 8_388_608 };
const AGAIN = { documentsMax: 20_000, bytesMax: 16_777_216 };

export interface Match {
  readonly seq: number;
  readonly id: string;
}

/** The result of a scan, and a mark for changes that it may not have seen. */
export interface Scanned {
  readonly mark: number;
  /** Null if it did not exist. A collection may have been deleted and created again under another id. */
  readonly collection: number | null;
  readonly matches: readonly Match[];
}

export interface Matching extends Change {
  /** The total size of all matches. */
  readonly bytesMax: number;
}

export const matchReads = (sql: Sql) => ({
  /** Also true for a recorded call: the writer then searches nothing. */
  isNarrow(target: Target, filter: Filter, journalKey: string): boolean {
    const collection = isRecorded(sql, target.tenant, journalKey) ? null : findCollection(sql, target);
    if (!collection) return true;
    const text = new QueryText(SQLITE);
    const reached = text.reached(byRarest(sql.prepare, collection, filter), filter);
    return isWithin(
      sql.prepare(`select bytes from documents where ${reached}`).iterate(...text.params),
      NARROW,
    );
  },
  match(target: Target, { bytesMax, ...change }: Matching): Omit<Scanned, 'mark'> {
    const collection = findCollection(sql, target);
    if (!collection) return { collection: null, matches: [] };
    const rows = matching(sql, collection, change);
    if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > bytesMax) throw tooMuchMatches(bytesMax);
    return { collection: collection.collection, matches: rows.map(({ seq, id }) => ({ seq, id })) };
  },
});

/** `among`: the sequences to search, as JSON. Default: all. */
function matching(sql: Sql, collection: Collection, { filter, matchesMax }: Change, among?: string) {
  const text = new QueryText(SQLITE);
  const within = among === undefined ? '' : `seq in (select value from json_each(${text.bind(among)})) and `;
  const where = text.where(byRarest(sql.prepare, collection, filter), filter);
  const rows = sql.select<Match & { readonly bytes: number }>(
    `select seq, id, bytes from documents where ${within}${where} order by seq ${text.limit(matchesMax + 1)}`,
    text.params,
  );
  if (rows.length > matchesMax) throw tooManyMatch(matchesMax);
  return rows;
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

const BYTES_OF = 'select bytes from documents where seq in (select value from json_each(?))';

/** See I1. */
export function matchesOf(
  sql: Sql,
  changes: RecentChanges,
  collection: Collection,
  { scanned, ...change }: Change & { readonly scanned: Scanned | null },
): readonly Match[] {
  if (scanned === null) return matching(sql, collection, change);
  const changed = changes.since(scanned.mark, collection.collection);
  const matches = scanned.collection === collection.collection ? scanned.matches : [];
  if (changed?.size === 0) return matches;
  const among = changed && JSON.stringify([...changed]);
  if (!among || !isWithin(sql.prepare(BYTES_OF).iterate(among), AGAIN)) throw tooMuchChanged();
  const same = matches.filter(({ seq }) => !changed.has(seq));
  const found = [...same, ...matching(sql, collection, change, among)];
  if (found.length > change.matchesMax) throw tooManyMatch(change.matchesMax);
  return found.sort((left, right) => left.seq - right.seq);
}

/** Null if the writer can search itself. */
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
