/** How published packs call the data surfaces. Entries for surfaces that a host does not offer rest. */
import { BLOB } from './blob/spellings.ts';
import { type Data, type DataObject, isObject } from './data.ts';
import { FS } from './fs/spellings.ts';
import { also, either, fill, member, rename, type Spelling, type Step, unused } from './spelling.ts';

const isList = (value: Data | undefined): value is readonly Data[] => Array.isArray(value);

const remainingMs = ({ expiresAt }: DataObject, now: number): number | null =>
  typeof expiresAt === 'string' ? Math.max(0, Date.parse(expiresAt) - now) : null;

const KV: readonly Spelling[] = [
  {
    path: 'storage.kv.get',
    to: 'kvStorage.get',
    gives: [
      member('found', 'whether there is a value', (value) => 'value' in value),
      member('ttlRemainingMs', 'null for one that stays', (value, { now }) => remainingMs(value, now)),
    ],
  },
  { path: 'storage.kv.set', to: 'kvStorage.put' },
  {
    path: 'storage.kv.cas',
    to: 'kvStorage.compareAndSwap',
    takes: [rename({ expect: 'expectedValue', set: 'newValue' })],
  },
  {
    path: 'storage.kv.list',
    to: 'kvStorage.list',
    gives: [
      member('keys', 'the keys alone', ({ entries }) =>
        isList(entries) ? entries.map((entry) => (entry as { key: string }).key) : undefined,
      ),
    ],
  },
];

const CACHE: readonly Spelling[] = [
  {
    path: 'storage.cache.get',
    to: 'cache.get',
    gives: [
      member('hit', 'whether there is a value', (value) => 'value' in value),
      member('ageMs', 'since it was put', ({ storedAt }, { now }) =>
        typeof storedAt === 'string' ? Math.max(0, now - Date.parse(storedAt)) : undefined,
      ),
    ],
  },
  { path: 'storage.cache.put', to: 'cache.put', takes: [fill({ ttlSeconds: 3_600 })] },
];

const TABLE: readonly Spelling[] = [
  { path: 'storage.table.insert', to: 'tableStorage.insert', gives: [also({ id: 'rowId' })] },
  {
    path: 'storage.table.update',
    when: 'filter',
    to: 'tableStorage.updateWhere',
    takes: [either('rowId', 'filter'), rename({ update: 'patch' })],
  },
  {
    path: 'storage.table.delete',
    when: 'filter',
    to: 'tableStorage.deleteWhere',
    takes: [either('rowId', 'filter')],
  },
  {
    path: 'storage.table.upsert',
    to: 'tableStorage.upsert',
    gives: [
      also({ id: 'rowId' }),
      member('updated', 'the opposite of `inserted`', ({ inserted }) => inserted === false),
    ],
  },
];

const firstMessage = (value: DataObject): DataObject | undefined =>
  isList(value.messages) ? (value.messages[0] as DataObject | undefined) : undefined;

const oneMessage: readonly Step[] = [
  member('found', 'whether there was one', (value) => firstMessage(value) !== undefined),
  ...['messageId', 'payload', 'headers', 'deliveryToken', 'deliveryCount'].map((name) =>
    member(name, 'of the message', (value) => firstMessage(value)?.[name]),
  ),
];

const SETTLED = {
  ack: [also({ acked: 'ok' })],
  nack: [also({ nacked: 'ok' })],
  deadLetter: [also({ routed: 'ok', deadLettered: 'ok', dlqSubject: 'deadLetterTopic' })],
} as const;

const partitionKey = unused('partitionKey', 'a topic has one order');

const QUEUE: readonly Spelling[] = [
  {
    path: 'queueBus.publish',
    when: 'subject',
    to: 'queueBus.publish',
    takes: [rename({ subject: 'topic' }), partitionKey],
  },
  { path: 'queueBus.publish', to: 'queueBus.publish', takes: [partitionKey] },
  {
    path: 'queueBus.consume',
    when: 'subject',
    to: 'queueBus.consume',
    takes: [rename({ subject: 'topic' }), fill({ maxMessages: 1 })],
    gives: oneMessage,
  },
  {
    path: 'queueBus.streamSubscribe',
    when: 'stream',
    to: 'queueBus.streamSubscribe',
    takes: [
      rename({ stream: 'topic' }),
      unused('consumerGroup', 'who subscribes takes nothing from anybody'),
    ],
  },
  {
    path: 'storage.queue.enqueue',
    to: 'queueBus.publish',
    takes: [rename({ queue: 'topic' })],
    gives: [also({ jobId: 'messageId' })],
  },
  {
    path: 'storage.queue.dequeue',
    to: 'queueBus.consume',
    takes: [rename({ queue: 'topic', durationMs: 'visibilityMs' }), fill({ maxMessages: 1 })],
    gives: [
      member('found', 'whether there was one', (value) => firstMessage(value) !== undefined),
      member('jobId', 'its delivery token, for `ack`', (value) => firstMessage(value)?.deliveryToken),
      member('payload', 'of the message', (value) => firstMessage(value)?.payload),
    ],
  },
  ...(['ack', 'nack', 'deadLetter'] as const).map(
    (verb): Spelling => ({
      path: `queueBus.${verb}`,
      when: 'messageId',
      to: `queueBus.${verb}`,
      takes: [
        rename({ messageId: 'deliveryToken' }),
        ...(verb === 'deadLetter' ? [fill({ reason: 'rejected' })] : []),
      ],
      gives: SETTLED[verb],
    }),
  ),
  { path: 'queueBus.ack', to: 'queueBus.ack', gives: SETTLED.ack },
  { path: 'queueBus.nack', to: 'queueBus.nack', gives: SETTLED.nack },
  { path: 'queueBus.deadLetter', to: 'queueBus.deadLetter', gives: SETTLED.deadLetter },
  {
    path: 'queueBus.streamPublish',
    to: 'queueBus.publish',
    takes: [rename({ stream: 'topic', record: 'payload' }), partitionKey],
    gives: [also({ offset: 'messageId' })],
  },
];

const datasource = rename({ datasource: 'datasourceId' });
const noParams = fill({ params: [] });

const SQL: readonly Spelling[] = [
  { path: 'db.sql.query', when: 'tables', to: 'sql.queryTables', takes: [noParams] },
  { path: 'db.sql.query', to: 'sql.query', takes: [datasource, noParams] },
  {
    path: 'db.sql.execute',
    to: 'sql.execute',
    takes: [datasource, noParams],
    gives: [also({ affected: 'rowsAffected' })],
  },
  {
    path: 'db.sql.transaction',
    to: 'sql.transaction',
    takes: [
      datasource,
      either('statements', 'operations'),
      rename({ statements: 'operations' }),
      member('operations', 'each with `params`, empty unless given', ({ operations }) =>
        isList(operations)
          ? operations.map((each) => (isObject(each) ? { params: [], ...each } : each))
          : undefined,
      ),
    ],
  },
];

const NOSQL: readonly Spelling[] = [
  { path: 'db.nosql.find', to: 'nosql.query', takes: [datasource, fill({ filter: {} })] },
  {
    path: 'db.nosql.insert',
    when: 'docs',
    to: 'nosql.insertMany',
    takes: [either('doc', 'docs'), datasource],
  },
  ...(['update', 'delete'] as const).map(
    (verb): Spelling => ({
      path: `db.nosql.${verb}`,
      when: 'filter',
      to: `nosql.${verb}Where`,
      takes: [either('id', 'filter'), datasource],
    }),
  ),
  ...['insert', 'insertMany', 'get', 'query', 'update', 'updateWhere', 'delete', 'deleteWhere'].map(
    (name): Spelling => ({ path: `db.nosql.${name}`, to: `nosql.${name}`, takes: [datasource] }),
  ),
];

/** Texts, numbers and booleans as they are; of lists and objects the texts in them, one a line. */
const fieldsOf = (document: DataObject): DataObject =>
  Object.fromEntries(
    Object.entries(document).flatMap(([name, value]) => {
      if (typeof value !== 'object') return [[name, value]];
      const texts = leavesOf(value);
      return texts.length === 0 ? [] : [[name, texts.join('\n')]];
    }),
  );

const leavesOf = (value: Data): string[] =>
  value === null || value instanceof Uint8Array
    ? []
    : typeof value === 'object'
      ? Object.values(value).flatMap(leavesOf)
      : [String(value)];

const SEARCH: readonly Spelling[] = [
  {
    path: 'db.search.index',
    when: 'document',
    to: 'searchIndex.index',
    takes: [
      either('document', 'docs'),
      member(
        'docs',
        'one of `id` and `document`; lists and objects in it become text',
        (value) => {
          const { id = '', document = {} } = value;
          return [{ id, fields: isObject(document) ? fieldsOf(document) : document }];
        },
        ['id', 'document'],
      ),
    ],
    gives: [member('indexed', 'whether it was', ({ indexed }) => indexed === 1)],
  },
  {
    path: 'db.search.query',
    when: 'query',
    to: 'searchIndex.query',
    takes: [rename({ query: 'q', limit: 'k' })],
    gives: [
      member('totalHits', 'how many came back', ({ hits }) => (isList(hits) ? hits.length : undefined)),
    ],
  },
];

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

const VECTOR: readonly Spelling[] = [
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
    gives: [also({ hits: 'matches' })],
  },
  { path: 'db.vector.delete', when: 'filter', to: 'vectorStore.deleteWhere', takes: [namespace] },
  ...['upsert', 'query', 'delete', 'deleteWhere'].map(
    (name): Spelling => ({ path: `db.vector.${name}`, to: `vectorStore.${name}`, takes: [namespace] }),
  ),
];

export const SPELLINGS: readonly Spelling[] = [
  ...KV,
  ...CACHE,
  ...TABLE,
  ...BLOB,
  ...QUEUE,
  ...SQL,
  ...NOSQL,
  ...SEARCH,
  ...VECTOR,
  ...FS,
];
