/** Refusals of search indexes, for every backend. Threads load this file. */
import type { SearchLimits } from '../../ports/search.ts';
import { Refusal } from '../../refusal.ts';

export const noIndex = (name: string): Refusal =>
  new Refusal('search_index_not_found', {
    message: `There is no index ${JSON.stringify(name.slice(0, 80))}. Index documents into it first.`,
  });

export function checkRoom(
  { documents, usedBytes }: { readonly documents: number; readonly usedBytes: number },
  { documentsMax, quotaBytes }: SearchLimits,
): void {
  if (documents > documentsMax)
    throw new Refusal('conflict', {
      message: `An index holds at most ${documentsMax} documents. Delete some, or use several indexes.`,
      details: { documentsMax },
    });
  if (usedBytes > quotaBytes)
    throw new Refusal('conflict', {
      message:
        'The space for search of this tenant is full. Delete documents, or ask the operator for a larger quota (GANTRY_QUOTAS).',
      details: { quotaBytes },
    });
}

export const tooManyIndexes = ({ indexesMax }: SearchLimits): Refusal =>
  new Refusal('conflict', {
    message: `There are ${indexesMax} indexes, the maximum. Empty one that is not needed.`,
    details: { indexesMax },
  });
