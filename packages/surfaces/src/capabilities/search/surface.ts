/** `ctx.db.search`: full text in indexes, ranked by BM25. */
import { invalid } from '@gantry/protocol';
import Type from 'typebox';
import { isObject } from '../../calls/data.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { SCAN_MS_MAX } from '../../deadline.ts';
import { type Over, opening, quotaPort } from '../../open-port.ts';
import type { Fields, SearchDocument, SearchLimits, SearchPort } from '../../ports/search.ts';
import { embeddedSearch } from '../../sqlite/search.ts';
import { jsonBytes } from '../../text.ts';
import { EVERYTHING } from '../documents/filter.ts';
import { parseFilter } from '../documents/parse-filter.ts';
import { parseQuery, WORDS_MAX } from './parse-query.ts';
import { SEARCH } from './spellings.ts';

const GIB = 1_073_741_824;
const DOCUMENTS_IN_CALL_MAX = 1_000;
const DOCUMENT_BYTES_MAX = 65_536;
/**
 * Measured: PostgreSQL takes up to a second for it on two idle cores, and 4 s on busy ones; writers of the index wait.
 */
export const CALL_BYTES_MAX = 524_288;
const FIELDS_MAX = 256;
const K_MAX = 100;
const QUERY_CHARACTERS_MAX = 32_768;
const K_DEFAULT = 10;

export const SEARCH_LIMITS: SearchLimits = { documentsMax: 1_000_000, indexesMax: 100, quotaBytes: 4 * GIB };

export const searchPort = quotaPort('search', SEARCH_LIMITS, {
  area: 'search',
  folder: 'search',
  embedded: ({ embedded }, limits) => embeddedSearch(embedded, limits),
  postgres: async () => (await import('../../postgres/search.ts')).postgresSearch,
});

const isField = ([name, value]: [string, unknown]): boolean =>
  s.isPlainText(name) &&
  (typeof value === 'string' ? s.isPlainText(value) : typeof value === 'boolean' || Number.isFinite(value));

const FieldsObject = Type.Refine(
  Type.Unsafe<Fields>({ type: 'object', description: 'an object of texts, numbers and booleans' }),
  (value) =>
    isObject(value) && Object.keys(value).length <= FIELDS_MAX && Object.entries(value).every(isField),
  () =>
    `must be an object of at most ${FIELDS_MAX} texts, numbers and booleans, texts without NUL characters and lone ` +
    'surrogate pairs',
);

const In = { index: s.CollectionText };

export const searchSurface = defineSurface({
  capability: 'searchIndex',
  spellings: SEARCH,
  summary:
    'Full text, ranked by BM25. Each tenant sees its own indexes only. A query is words: a document needs one of ' +
    'them, and the more and the rarer the better. `"some words"` stand beside each other, `-word` must not be there, ' +
    '`wor*` is a beginning. Case and accents do not count. When the words find fewer than `k`, documents follow that ' +
    'hold the query as it stands, be it a part of a word. Filters choose by fields, as those of `nosql` do.',
  journal: 'own',
  opens: opening(searchPort, implementSearch),
  // The protocol closes this advertisement, and its list of backends includes none of ours
  limits: {},
  errors: ['search_index_not_found', 'search_query_syntax_error', 'conflict'],
  methods: {
    index: writes(
      `Adds documents, or replaces those with the same ids, all or none: at most ${DOCUMENTS_IN_CALL_MAX}, each ` +
        `of at most ${DOCUMENT_BYTES_MAX} bytes, together ${CALL_BYTES_MAX}. The first makes the index.`,
      { ...In, docs: s.listOf({ id: s.CollectionText, fields: FieldsObject }, DOCUMENTS_IN_CALL_MAX) },
      { indexed: s.Count },
    ),
    query: reads(
      `The \`k\` (${K_DEFAULT}, up to ${K_MAX}) best documents, equal ones by their ids. A query of more than ` +
        `${WORDS_MAX} words, those of phrases counted, finds documents that hold it as it stands. What takes longer than ` +
        `${SCAN_MS_MAX / 1_000} s is ended.`,
      {
        ...In,
        q: s.plainText({ maxLength: QUERY_CHARACTERS_MAX }),
        k: s.optional(s.whole(1, K_MAX)),
        filter: s.optional(s.FilterObject),
      },
      { hits: s.listOf({ id: s.Text, score: s.Amount, fields: FieldsObject }) },
    ),
    delete: writes(
      'Removes documents by id.',
      { ...In, ids: Type.Array(s.CollectionText, { maxItems: 10_000 }) },
      { deleted: s.Count },
    ),
  },
});

export function implementSearch({ port }: Pick<Over<SearchPort>, 'port'>): ImplementedSurface {
  return searchSurface.implement({
    async index({ index, docs }, call) {
      if (docs.length === 0) return { indexed: 0 };
      checkSizes(docs);
      return port.index({ index, documents: docs }, call);
    },
    async query({ index, q, k = K_DEFAULT, filter }, call) {
      const chosen = filter === undefined ? EVERYTHING : parseFilter(filter, 'validation_error');
      const hits = await port.query({ index, query: parseQuery(q), k, filter: chosen }, call);
      return { hits: [...hits] };
    },
    delete: ({ index, ids }, call) => port.delete({ index, ids }, call),
  });
}

function checkSizes(docs: readonly SearchDocument[]): void {
  let total = 0;
  for (const { id, fields } of docs) {
    const bytes = jsonBytes(fields);
    if (bytes > DOCUMENT_BYTES_MAX)
      throw invalid(`The document "${id}" has more than ${DOCUMENT_BYTES_MAX} bytes. Index it in parts.`, {
        documentBytesMax: DOCUMENT_BYTES_MAX,
      });
    total += bytes;
  }
  if (total > CALL_BYTES_MAX)
    throw invalid(
      `The documents have more than ${CALL_BYTES_MAX} bytes together. Index them in several calls.`,
      { callBytesMax: CALL_BYTES_MAX },
    );
}
