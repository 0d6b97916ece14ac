/** `ctx.db.vector`: vectors in collections, and the nearest to a given one. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { DataObject } from '../../calls/data.ts';
import {
  defineSurface,
  type ImplementedSurface,
  namesOf,
  reads,
  writes,
} from '../../calls/define-surface.ts';
import { floatsOf, numbersType } from '../../calls/packed-numbers.ts';
import {
  also,
  either,
  fill,
  isList,
  member,
  rename,
  type Spelling,
  type Step,
} from '../../calls/spelling.ts';
import { SCAN_MS_MAX } from '../../deadline.ts';
import { type OpenDeps, opening, type PortLiteral } from '../../open-port.ts';
import type { VectorLimits, VectorMatch, VectorsPort } from '../../ports/vectors.ts';
import { perTenant } from '../../quotas.ts';
import { embeddedVectors } from '../../sqlite/vectors.ts';
import { EVERYTHING, type Filter } from '../documents/filter.ts';
import { parseFilter } from '../documents/parse-filter.ts';
import { CollectionText, FilterObject, PlainObject } from '../documents/plain.ts';
import { METRICS } from './metric.ts';

const GIB = 1_073_741_824;
const DIMENSIONS_MAX = 4_096;
const VECTORS_IN_CALL_MAX = 1_000;
const K_MAX = 500;
const METADATA_BYTES_MAX = 16_384;
/** The squares of as many as there can be still have room in 32 bits. */
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
  const database = await pool.open(url);
  const opened = postgresVectors(database, VECTOR_LIMITS);
  const portWith = (quotaBytes: number) => postgresVectors(database, limitsWith(quotaBytes)).port;
  return { ...opened, port: perTenant(quotas, 'vectors', VECTOR_LIMITS.quotaBytes, portWith) };
};

export const vectorsPort: PortLiteral<VectorsPort> = {
  setting: 'vectors',
  embedded: ({ retrieval, quotas }) =>
    perTenant(quotas, 'vectors', VECTOR_LIMITS.quotaBytes, (quotaBytes) =>
      embeddedVectors(retrieval, limitsWith(quotaBytes)),
    ),
  database: 'retrieval',
  lacks: ({ retrieval }) =>
    retrieval.hasVectors
      ? null
      : 'sqlite-vec has no build for this platform. Set GANTRY_VECTORS to postgres://... to have vectors.',
  servers: { postgres: onPostgres, postgresql: onPostgres },
};

const optional = Type.Optional;
const Id = CollectionText;
const Ids = Type.Array(Id, { maxItems: 10_000 });
const Embedding = numbersType({ maxItems: DIMENSIONS_MAX, valueMax: VALUE_MAX });
const Count = Type.Integer({ minimum: 0 });

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

/** The schemas of packs that say `collection` are closed. */
const hits: Step = {
  says: '`matches` as `hits`, with `namespace` as both',
  adapt: (value, facts) =>
    (facts.input.namespace === undefined ? rename({ matches: 'hits' }) : also({ hits: 'matches' })).adapt(
      value,
      facts,
    ),
};

const SPELLINGS: readonly Spelling[] = [
  ...['records', 'items'].map(
    (name): Spelling => ({
      path: 'db.vector.upsert',
      when: name,
      to: 'vectorStore.upsert',
      takes: [either('vectors', name), namespace, toVectors(name)],
    }),
  ),
  {
    path: 'db.vector.query',
    when: 'vector',
    to: 'vectorStore.query',
    takes: [namespace, rename({ vector: 'embedding', topK: 'k' }), fill({ k: 10 })],
    gives: [hits],
  },
  { path: 'db.vector.delete', when: 'filter', to: 'vectorStore.deleteWhere', takes: [namespace] },
  ...['upsert', 'query', 'delete', 'deleteWhere'].map(
    (name): Spelling => ({ path: `db.vector.${name}`, to: `vectorStore.${name}`, takes: [namespace] }),
  ),
];

export const vectorSurface = defineSurface({
  ...namesOf('vectorStore'),
  spellings: SPELLINGS,
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
        collection: CollectionText,
        vectors: Type.Array(Type.Object({ id: Id, embedding: Embedding, metadata: optional(PlainObject) }), {
          maxItems: VECTORS_IN_CALL_MAX,
        }),
        metric: optional(Type.Enum([...METRICS])),
      },
      { upserted: Count },
      { kind: 'numbers' },
    ),
    query: reads(
      `The \`k\` (up to ${K_MAX}) nearest vectors, the nearest first. What takes longer than ${SCAN_MS_MAX / 1_000} s is ` +
        'ended.',
      {
        collection: CollectionText,
        embedding: Embedding,
        k: Type.Integer({ minimum: 1, maximum: K_MAX }),
        filter: optional(FilterObject),
      },
      {
        matches: Type.Array(
          Type.Object({
            id: Type.String(),
            score: Type.Number(),
            metadata: optional(Type.Record(Type.String(), Type.Unknown())),
          }),
        ),
      },
      { kind: 'numbers' },
    ),
    delete: writes('Removes vectors by id.', { collection: CollectionText, ids: Ids }, { deleted: Count }),
    deleteWhere: writes(
      `Removes vectors whose metadata match; with \`ids\`, only such of those. At most ${VECTOR_LIMITS.deletedMax} ` +
        'in one call: call it again until it answers 0.',
      { collection: CollectionText, filter: FilterObject, ids: optional(Ids) },
      { deleted: Count },
    ),
  },
});

export interface VectorOptions {
  readonly port: VectorsPort;
  /** Of the backend: the protocol has a name for `pgvector`. */
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
  if (metadata === null || Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES_MAX) return;
  throw new OpenwopError('validation_error', {
    message: `The metadata of "${id}" has more than ${METADATA_BYTES_MAX} bytes. Keep large texts elsewhere, by their id.`,
    details: { metadataBytesMax: METADATA_BYTES_MAX },
  });
}
