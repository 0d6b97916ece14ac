/** `ctx.db.vector`: vectors in collections, and nearest-neighbour queries. */
import { invalid, type JsonObject } from '@gantry/protocol';
import Type from 'typebox';
import type { DataObject } from '../../calls/data.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import { floatsOf, numbersType } from '../../calls/packed-numbers.ts';
import * as s from '../../calls/schema.ts';
import { also, either, fill, isList, member, rename, type Step } from '../../calls/spelling.ts';
import { SCAN_MS_MAX } from '../../deadline.ts';
import { type OpenDeps, opening, type PortLiteral } from '../../open-port.ts';
import type { VectorLimits, VectorMatch, VectorsPort } from '../../ports/vectors.ts';
import { perTenant, quotaOf } from '../../quotas.ts';
import { embeddedVectors } from '../../sqlite/vectors.ts';
import { jsonBytes } from '../../text.ts';
import { EVERYTHING, type Filter } from '../documents/filter.ts';
import { parseFilter } from '../documents/parse-filter.ts';
import { METRICS } from './metric.ts';

const GIB = 1_073_741_824;
const DIMENSIONS_MAX = 4_096;
const VECTORS_IN_CALL_MAX = 1_000;
const K_MAX = 500;
const METADATA_BYTES_MAX = 16_384;
/** The sum of the squares of the largest vector still fits 32-bit floats. */
const VALUE_MAX = 1e15;

export const VECTOR_LIMITS: VectorLimits = {
  vectorsMax: 1_000_000,
  collectionsMax: 1_000,
  quotaBytes: 8 * GIB,
  deletedMax: 100_000,
};

const limitsWith = (quotaBytes: number): VectorLimits => ({ ...VECTOR_LIMITS, quotaBytes });

const onPostgres = async (url: string, { pool, quotas }: OpenDeps) => {
  const { postgresVectors } = await import('../../postgres/vectors.ts');
  const quota = quotaOf(quotas, 'vectors', VECTOR_LIMITS.quotaBytes);
  return postgresVectors(await pool.open(url), (tenant) => limitsWith(quota(tenant)));
};

export const vectorsPort: PortLiteral<VectorsPort> = {
  setting: 'vectors',
  embedded: ({ embedded, quotas }) =>
    perTenant(quotas, 'vectors', VECTOR_LIMITS.quotaBytes, (quotaBytes) =>
      embeddedVectors(embedded, limitsWith(quotaBytes)),
    ),
  area: 'vectors',
  lacks: ({ embedded }) =>
    embedded.hasVectors
      ? null
      : 'sqlite-vec has no build for this platform. Set GANTRY_VECTORS to postgres://... to have vectors.',
  servers: { postgres: onPostgres, postgresql: onPostgres },
};

const { optional } = s;
const In = { collection: s.CollectionText };
const Ids = Type.Array(s.CollectionText, { maxItems: 10_000 });
const Embedding = numbersType({ maxItems: DIMENSIONS_MAX, valueMax: VALUE_MAX });

const toVectors = (from: string): Step =>
  member(
    'vectors',
    `\`${from}\`, with \`vector\` as \`embedding\``,
    ({ [from]: records }) =>
      isList(records)
        ? records.map((each) =>
            rename({ vector: 'embedding' }).adapt(each as DataObject, { input: {}, now: 0 }),
          )
        : undefined,
    [from],
  );
const namespace = rename({ namespace: 'collection' });

/** Packs that use `collection` have closed schemas. */
const hits: Step = {
  says: '`matches` as `hits`, with `namespace` as both',
  adapt: (value, facts) =>
    (facts.input.namespace === undefined ? rename({ matches: 'hits' }) : also({ hits: 'matches' })).adapt(
      value,
      facts,
    ),
};

export const vectorSurface = defineSurface({
  capability: 'vectorStore',
  spellings: [
    ...['records', 'items'].map((name) => ({
      call: 'upsert',
      when: name,
      takes: [either('vectors', name), namespace, toVectors(name)],
    })),
    {
      call: 'query',
      when: 'vector',
      takes: [namespace, rename({ vector: 'embedding', topK: 'k' }), fill({ k: 10 })],
      gives: [hits],
    },
    { call: 'delete', when: 'filter', to: 'deleteWhere', takes: [namespace] },
    ...['upsert', 'query', 'delete', 'deleteWhere'].map((call) => ({ call, takes: [namespace] })),
  ],
  summary:
    `Collections of vectors with up to ${DIMENSIONS_MAX} numbers, and the nearest to a given one. Each tenant sees ` +
    'its own only. The first upsert makes a collection and fixes its dimensions and its metric: `cosine` unless ' +
    'said otherwise, `dot`, or `l2`, whose score is 1 / (1 + distance). More is nearer. Filters choose by metadata, ' +
    'as those of `nosql` do.',
  journal: 'own',
  opens: opening(vectorsPort, implementVectors),
  // The protocol closes this advertisement
  limits: {},
  errors: ['vector_collection_not_found', 'vector_dimension_mismatch', 'conflict'],
  methods: {
    upsert: writes(
      `Adds vectors, or replaces those with the same ids, all or none: at most ${VECTORS_IN_CALL_MAX}, each with ` +
        `at most ${METADATA_BYTES_MAX} bytes of metadata.`,
      {
        ...In,
        vectors: s.listOf(
          { id: s.CollectionText, embedding: Embedding, metadata: optional(s.PlainObject) },
          VECTORS_IN_CALL_MAX,
        ),
        metric: optional(Type.Enum([...METRICS])),
      },
      { upserted: s.Count },
      { kind: 'numbers' },
    ),
    query: reads(
      `The \`k\` (up to ${K_MAX}) nearest vectors, the nearest first. What takes longer than ${SCAN_MS_MAX / 1_000} s is ` +
        'ended.',
      { ...In, embedding: Embedding, k: s.whole(1, K_MAX), filter: optional(s.FilterObject) },
      { matches: s.listOf({ id: s.Text, score: s.Amount, metadata: optional(s.AnyObject) }) },
      { kind: 'numbers' },
    ),
    delete: writes('Removes vectors by id.', { ...In, ids: Ids }, { deleted: s.Count }),
    deleteWhere: writes(
      `Removes vectors whose metadata match; with \`ids\`, only such of those. At most ${VECTOR_LIMITS.deletedMax} ` +
        'in one call: call it again until it answers 0.',
      { ...In, filter: s.FilterObject, ids: optional(Ids) },
      { deleted: s.Count },
    ),
  },
});

export interface VectorOptions {
  readonly port: VectorsPort;
  /** The kind of the backend: the protocol has a name for `pgvector`. */
  readonly kind?: string;
}

export function implementVectors({ port, kind }: VectorOptions): ImplementedSurface {
  const methods: Parameters<typeof vectorSurface.implement>[0] = {
    async upsert({ collection, vectors, metric = null }, call) {
      if (vectors.length === 0) return { upserted: 0 };
      const given = vectors.map(({ id, embedding, metadata = null }) => {
        checkMetadata(id, metadata);
        return { id, embedding: floatsOf(embedding), metadata };
      });
      return port.upsert({ collection, metric, vectors: given }, call);
    },
    async query({ collection, embedding, k, filter }, call) {
      const query = { collection, k, filter: filterOf(filter), embedding: floatsOf(embedding) };
      return { matches: (await port.query(query, call)).map(shown) };
    },
    delete: ({ collection, ids }, call) => port.delete({ collection, ids, filter: EVERYTHING }, call),
    deleteWhere: async ({ collection, filter, ids = null }, call) =>
      port.delete({ collection, ids, filter: filterOf(filter) }, call),
  };
  return vectorSurface.implement(methods, kind === 'pgvector' ? { advertises: { backends: [kind] } } : {});
}

const filterOf = (filter: JsonObject | undefined): Filter =>
  filter === undefined ? EVERYTHING : parseFilter(filter, 'validation_error');

const shown = ({ id, score, metadata }: VectorMatch) => ({ id, score, ...(metadata && { metadata }) });

function checkMetadata(id: string, metadata: JsonObject | null): void {
  if (metadata === null || jsonBytes(metadata) <= METADATA_BYTES_MAX) return;
  throw invalid(
    `The metadata of "${id}" has more than ${METADATA_BYTES_MAX} bytes. Keep large texts elsewhere, by their id.`,
    { metadataBytesMax: METADATA_BYTES_MAX },
  );
}
