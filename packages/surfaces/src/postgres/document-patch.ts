/** Patches are merged here, because the size of a document is that of the JSON sent, not of the jsonb text. */
import type { JsonObject } from '@gantry/protocol';
import { checkWidth, fit } from '../capabilities/documents/columns.ts';
import { patched } from '../capabilities/documents/patch.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import {
  PATCHED_BYTES_MAX,
  tooLarge,
  tooManyMatch,
  tooMuchMatches,
} from '../capabilities/documents/refusals.ts';
import type { Change, DocumentLimits, Patched } from '../ports/documents.ts';
import { bytesOf, sameJson } from '../text.ts';
import type { Tx } from './connection.ts';
import { byRarest, POSTGRES, runText } from './document-sql.ts';
import type { Collection } from './documents.ts';

export interface Patching extends Change {
  readonly patch: JsonObject;
}

interface Match {
  readonly seq: number;
  readonly id: string;
  readonly bytes: number;
}

/** The caller holds the lock of the collection, so nothing changes between reading and writing. */
export async function patchEach(
  tx: Tx,
  found: Collection,
  { patch, ...change }: Patching,
  limits: DocumentLimits,
): Promise<Patched> {
  const matched = await matching(tx, found, change);
  if (matched.length > 0 && found.columns) await addColumns(tx, found, patch);
  let modified = 0;
  for (const seqs of batched(matched)) modified += await patchBatch(tx, found, { seqs, patch }, limits);
  return { matched: matched.length, modified, id: matched[0]?.id ?? null };
}

async function matching(
  tx: Tx,
  found: Collection,
  { filter, matchesMax }: Change,
): Promise<readonly Match[]> {
  const text = new QueryText(POSTGRES);
  const where = text.where(await byRarest(tx, found, filter), filter);
  const matches = `select seq, id, bytes from documents where ${where} order by seq ${text.limit(matchesMax + 1)}`;
  const matched = await runText<Match>(tx, { text: matches, params: text.params });
  if (matched.length > matchesMax) throw tooManyMatch(matchesMax);
  if (matched.reduce((sum, { bytes }) => sum + bytes, 0) > PATCHED_BYTES_MAX)
    throw tooMuchMatches(PATCHED_BYTES_MAX);
  return matched;
}

async function addColumns(
  tx: Tx,
  { collection, columns: before }: Collection,
  patch: JsonObject,
): Promise<void> {
  const columns = before && fit(before, patch);
  if (columns === before) return;
  await tx`update collections set columns = ${JSON.stringify(columns)} where id = ${collection}`;
}

const BATCH_BYTES_MAX = 4_194_304;

/** Fills each batch up to the limit, with at least one. */
function batched(matched: readonly Match[]): number[][] {
  const batches: number[][] = [];
  let room = 0;
  for (const { seq, bytes } of matched) {
    if (bytes > room || batches.length === 0) {
      batches.push([]);
      room = BATCH_BYTES_MAX;
    }
    batches.at(-1)!.push(seq);
    room -= bytes;
  }
  return batches;
}

async function patchBatch(
  tx: Tx,
  { collection, columns }: Collection,
  { seqs, patch }: { readonly seqs: readonly number[]; readonly patch: JsonObject },
  limits: DocumentLimits,
): Promise<number> {
  const rows = await tx<{ seq: number; doc: string }[]>`
    select seq, doc::text from documents where collection = ${collection} and seq = any(${[...seqs]}::bigint[])
  `;
  const changed = rows.flatMap(({ seq, doc }) => {
    const before: JsonObject = JSON.parse(doc);
    const after = patched(before, patch);
    if (sameJson(before, after)) return [];
    if (columns) checkWidth(after);
    return [{ seq, json: JSON.stringify(after) }];
  });
  if (changed.some(({ json }) => bytesOf(json) > limits.documentBytesMax)) throw tooLarge(limits);
  if (changed.length === 0) return 0;
  await tx`
    update documents set doc = given.doc::jsonb, bytes = octet_length(given.doc)
    from unnest(${changed.map(({ seq }) => seq)}::bigint[], ${changed.map(({ json }) => json)}::text[])
      as given (seq, doc)
    where documents.collection = ${collection} and documents.seq = given.seq
  `;
  return changed.length;
}
