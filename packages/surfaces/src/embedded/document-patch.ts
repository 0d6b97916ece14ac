/** Replaces members of documents, one by one. */
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '@gantry/protocol';
import { checkWidth } from '../documents/columns.ts';
import { patched } from '../documents/patch.ts';
import { tooLarge } from '../documents/refusals.ts';
import type { DocumentLimits } from '../ports/documents.ts';
import { bytesOf } from '../text.ts';
import type { Collection } from './collections.ts';
import type { RecentChanges } from './document-changes.ts';
import type { Match } from './document-matches.ts';
import { sortedJson } from './document-sql.ts';

/** Answers how many of them changed. */
export function patching(database: DatabaseSync, changed: RecentChanges) {
  const read = database.prepare('select json(doc) as doc from documents where seq = ?');
  const write = database.prepare('update documents set doc = jsonb(?), bytes = ? where seq = ?');
  return (
    { collection, columns }: Collection,
    matched: readonly Match[],
    patch: JsonObject,
    limits: DocumentLimits,
  ): number => {
    let modified = 0;
    for (const { seq } of matched) {
      const before = String(read.get(seq)?.doc);
      const after = patched(JSON.parse(before), patch);
      const json = sortedJson(after);
      if (json === before) continue;
      if (columns) checkWidth(after);
      const bytes = bytesOf(json);
      if (bytes > limits.documentBytesMax) throw tooLarge(limits);
      write.run(json, bytes, seq);
      changed.note(collection, seq);
      modified++;
    }
    return modified;
  };
}
