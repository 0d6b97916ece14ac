/** Refusals of writes to collections, for every backend. Threads load this file. */
import type { CollectionName, DocumentLimits } from '../../ports/documents.ts';
import { Refusal } from '../../refusal.ts';

const shown = (id: string): string => JSON.stringify(id.slice(0, 80));

/** The name in packs: only tables must exist. */
const nounOf = ({ absent }: Pick<DocumentLimits, 'absent'>): string =>
  absent === 'table_not_found' ? 'row' : 'document';

export const alreadyThere = (id: string, limits: Pick<DocumentLimits, 'absent'>): Refusal =>
  new Refusal('conflict', {
    message:
      `There is a ${nounOf(limits)} with the id ${shown(id)} already. Change that one, or leave the id out to get a ` +
      'new one.',
  });

export const noneThere = (): Refusal =>
  new Refusal('not_found', { message: 'Nothing has this id. Insert it first.' });

export const tooManyMatch = (max: number): Refusal =>
  new Refusal('validation_error', {
    message:
      max === 1
        ? 'More than one row has these values in its key columns. Name columns that identify one row.'
        : `More than ${max} match. Change them in steps, with a narrower filter.`,
  });

/**
 * Measured: changing as much takes 2 s on a machine with seven times the work that it can do; other writers
 * wait for it.
 */
export const PATCHED_BYTES_MAX = 33_554_432;

export const tooMuchMatches = (bytesMax: number): Refusal =>
  new Refusal('validation_error', {
    message: `More than ${bytesMax} bytes match. Change them in steps, with a narrower filter.`,
    details: { bytesMax },
  });

export const tooMuchChanged = (): Refusal =>
  new Refusal('storage_unavailable', {
    message: 'Too many concurrent changes to what matches. Nothing was changed. Try again later.',
  });

export const tooLarge = (limits: DocumentLimits): Refusal =>
  new Refusal('validation_error', {
    message: `A ${nounOf(limits)} has at most ${limits.documentBytesMax} bytes.`,
  });

export const otherColumns = (): Refusal =>
  new Refusal('table_schema_violation', {
    message: 'The table exists with other columns. Use another name, or its columns.',
  });

export const misfitThere = (id: string): Refusal =>
  new Refusal('table_schema_violation', {
    message:
      `The row ${shown(id)} does not fit these columns. Change or delete rows that do not, declare what they hold, ` +
      'or use another name.',
    details: { rowId: id },
  });

/** Returns `found`; throws if a missing collection is an error. */
export function orAbsent<Found>(
  found: Found | null,
  { collection }: CollectionName,
  { absent }: Pick<DocumentLimits, 'absent'>,
): Found | null {
  if (found === null && absent !== null) throw new Refusal(absent, { details: { table: collection } });
  return found;
}

export const tooManyDocuments = (limits: DocumentLimits): Refusal => {
  const { documentsMax, full } = limits;
  return new Refusal(full, {
    message: `It holds ${documentsMax} ${nounOf(limits)}s, the maximum. Delete some first.`,
    details: { documentsMax },
  });
};

export const tooManyCollections = ({ collectionsMax, full }: DocumentLimits): Refusal =>
  new Refusal(full, {
    message: `There are ${collectionsMax} of them, the maximum. Use one of those.`,
    details: { collectionsMax },
  });

export const quotaReached = ({ quotaBytes, full }: DocumentLimits): Refusal =>
  new Refusal(full, {
    message:
      'The space for rows and documents of this tenant is full. Delete some, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    details: { quotaBytes },
  });
