/** Shared by tables and collections above the port: ids, pages, sizes. */
import { invalid, type Json, type JsonObject } from '@gantry/protocol';
import type { Cursors } from '../../calls/cursor.ts';
import { fingerprintOf } from '../../calls/data.ts';
import { pageSize } from '../../calls/schema.ts';
import type { NumberedCall, PortRead } from '../../calls/surface-call.ts';
import { type PortLiteral, quotaPort } from '../../open-port.ts';
import type { CollectionName, DocumentLimits, DocumentsPort, NewDocument } from '../../ports/documents.ts';
import { embeddedDocuments } from '../../sqlite/documents.ts';
import { jsonBytes } from '../../text.ts';
import type { Filter, SortField } from './filter.ts';

export const MATCHES_MAX = 10_000;
const ID_BYTES_MAX = 256;

const DOCUMENT_BYTES_MAX = 1_048_576;
export const LIMITS: Omit<DocumentLimits, 'full'> = {
  documentsMax: 250_000,
  documentBytesMax: DOCUMENT_BYTES_MAX,
  collectionsMax: 1_000,
  quotaBytes: 1_073_741_824,
  absent: null,
};

/** Tables and collections are two ports over one database. */
export const documentsPort = (limits: DocumentLimits): PortLiteral<DocumentsPort> =>
  quotaPort('documents', limits, {
    embedded: ({ embedded }, own) => embeddedDocuments(embedded, own),
    postgres: async () => (await import('../../postgres/documents.ts')).postgresDocuments,
  });

/** A document without an `id` gets one from its call, so that a node that runs again creates the same id. */
export function withId(document: JsonObject, { id: invocation }: NumberedCall, position = 0): NewDocument {
  checkSize(document);
  const given: Json | undefined = Object.hasOwn(document, 'id') ? document.id : undefined;
  if (given === undefined || given === null) {
    const id = position === 0 ? invocation : `${invocation}.${position}`;
    return { id, document: { ...document, id } };
  }
  if ((typeof given !== 'string' && typeof given !== 'number') || given === '')
    throw invalid('The member `id` must be a string or a number. Omit it to get a new one.');
  const id = String(given);
  if (Buffer.byteLength(id) > ID_BYTES_MAX) throw invalid(`An id can have at most ${ID_BYTES_MAX} bytes.`);
  return { id, document };
}

function checkSize(document: JsonObject): void {
  if (jsonBytes(document) > DOCUMENT_BYTES_MAX)
    throw invalid(
      `A row or document can have at most ${DOCUMENT_BYTES_MAX} bytes. Put large values into blob storage.`,
    );
}

/** An id never changes; a patch may only repeat it. */
export function patchOf(patch: JsonObject, id?: string): JsonObject {
  checkSize(patch);
  if (!Object.hasOwn(patch, 'id')) return patch;
  const { id: given, ...rest } = patch;
  if (id !== undefined && String(given) === id) return rest;
  throw invalid('The member `id` cannot be changed. Remove it from the patch.');
}

export interface PageRequest {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export async function findPage(
  { port, cursors }: { readonly port: DocumentsPort; readonly cursors: Cursors },
  name: CollectionName,
  { filter, sort, cursor, limit: asked }: PageRequest,
  call: PortRead,
): Promise<{ documents: JsonObject[]; next: string | null }> {
  const query = fingerprintOf('find', { filter, sort });
  const scope = [call.tenant, 'documents', name.space, name.collection, query] as const;
  const limit = pageSize(asked);
  const after = cursor === undefined ? null : cursors.open(scope, cursor);
  const { documents, next } = await port.find({ ...name, filter, sort, after, limit }, call);
  return { documents: [...documents], next: next === null ? null : cursors.seal(scope, next) };
}
