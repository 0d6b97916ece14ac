/** Arguments as published packs send them become arguments of the contract, and answers carry what packs read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SPELLINGS } from './catalogue.ts';
import type { DataObject } from './data.ts';
import { through } from './spelling.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** Path, what a pack sends, the method that is meant and what that takes. */
const TAKES: readonly [string, DataObject, string, DataObject][] = [
  [
    'storage.kv.cas',
    { key: 'a', expect: 1, set: 2 },
    'kvStorage.compareAndSwap',
    { key: 'a', expectedValue: 1, newValue: 2 },
  ],
  ['storage.cache.put', { key: 'a', value: 1 }, 'cache.put', { key: 'a', value: 1, ttlSeconds: 3_600 }],
  [
    'storage.table.update',
    { table: 't', filter: { a: 1 }, update: { b: 2 } },
    'tableStorage.updateWhere',
    { table: 't', filter: { a: 1 }, patch: { b: 2 } },
  ],
  [
    'storage.table.delete',
    { table: 't', filter: {} },
    'tableStorage.deleteWhere',
    { table: 't', filter: {} },
  ],
  [
    'storage.blob.put',
    { key: 'k', contentBase64: 'aGk=' },
    'blobStorage.put',
    { key: 'k', bytes: bytes('hi') },
  ],
  [
    'storage.blob.presign',
    { bucket: 'b', key: 'k', operation: 'put' },
    'blobStorage.presign',
    { bucket: 'b', key: 'k', method: 'PUT', expiresInSeconds: 900 },
  ],
  ['storage.queue.enqueue', { queue: 'q', payload: 1 }, 'queueBus.publish', { topic: 'q', payload: 1 }],
  [
    'storage.queue.dequeue',
    { queue: 'q', durationMs: 5 },
    'queueBus.consume',
    { topic: 'q', visibilityMs: 5, maxMessages: 1 },
  ],
  ['queueBus.ack', { messageId: 'm' }, 'queueBus.ack', { deliveryToken: 'm' }],
  [
    'queueBus.nack',
    { messageId: 'm', deliveryToken: 't', requeue: true },
    'queueBus.nack',
    { deliveryToken: 't', requeue: true },
  ],
  [
    'queueBus.nack',
    { messageId: 'm', requeue: true },
    'queueBus.nack',
    { deliveryToken: 'm', requeue: true },
  ],
  [
    'queueBus.deadLetter',
    { messageId: 'm' },
    'queueBus.deadLetter',
    { deliveryToken: 'm', reason: 'rejected' },
  ],
  [
    'queueBus.streamPublish',
    { stream: 's', record: { a: 1 } },
    'queueBus.publish',
    { topic: 's', payload: { a: 1 } },
  ],
  [
    'db.sql.query',
    { datasource: 'd', sql: 'select 1' },
    'sql.query',
    { datasourceId: 'd', sql: 'select 1', params: [] },
  ],
  [
    'db.sql.query',
    { sql: 's', tables: { input_0: [] }, params: [] },
    'sql.queryTables',
    { sql: 's', tables: { input_0: [] }, params: [] },
  ],
  [
    'db.sql.transaction',
    { datasource: 'd', statements: [{ sql: 's' }] },
    'sql.transaction',
    { datasourceId: 'd', operations: [{ sql: 's', params: [] }] },
  ],
  [
    'db.sql.transaction',
    { datasource: 'd', operations: [{ sql: 's', params: [] }] },
    'sql.transaction',
    { datasourceId: 'd', operations: [{ sql: 's', params: [] }] },
  ],
  [
    'db.nosql.find',
    { datasource: 'd', collection: 'c' },
    'nosql.query',
    { datasourceId: 'd', collection: 'c', filter: {} },
  ],
  [
    'db.nosql.insert',
    { datasource: 'd', collection: 'c', docs: [{}] },
    'nosql.insertMany',
    { datasourceId: 'd', collection: 'c', docs: [{}] },
  ],
  [
    'db.search.query',
    { index: 'i', query: 'x', limit: 3 },
    'searchIndex.query',
    { index: 'i', q: 'x', k: 3 },
  ],
  [
    'db.vector.query',
    { collection: 'c', vector: [1] },
    'vectorStore.query',
    { collection: 'c', embedding: [1], k: 10 },
  ],
  [
    'db.vector.query',
    { namespace: 'n', vector: [1], topK: 2 },
    'vectorStore.query',
    { collection: 'n', embedding: [1], k: 2 },
  ],
  [
    'db.vector.query',
    { namespace: 'n', embedding: [1], k: 2 },
    'vectorStore.query',
    { collection: 'n', embedding: [1], k: 2 },
  ],
  ['db.vector.delete', { namespace: 'n', ids: ['a'] }, 'vectorStore.delete', { collection: 'n', ids: ['a'] }],
  [
    'db.vector.delete',
    { collection: 'c', filter: {} },
    'vectorStore.deleteWhere',
    { collection: 'c', filter: {} },
  ],
  ['fs.list', { path: 'd' }, 'fs.list', { path: 'd', prefix: 'd/', recursive: false, includeHidden: false }],
  [
    'fs.list',
    { path: '.', recursive: true },
    'fs.list',
    { path: '.', prefix: '', recursive: true, includeHidden: false },
  ],
  [
    'fs.write',
    { path: 'a', content: 'aGk=' },
    'fs.write',
    { path: 'a', content: 'aGk=', bytes: bytes('hi') },
  ],
  [
    'fs.write',
    { path: 'a', content: 'hi', encoding: 'utf8' },
    'fs.write',
    { path: 'a', content: 'hi', encoding: 'utf8', bytes: bytes('hi') },
  ],
  [
    'fs.image.resize',
    { contentBase64: 'aGk=', width: 1 },
    'fs.image.resize',
    { bytes: bytes('hi'), width: 1 },
  ],
  ['fs.pdf.merge', { parts: ['aGk='] }, 'fs.pdf.merge', { parts: [bytes('hi')] }],
];

/** Path, what the pack sent, what the method answers, and what the pack gets. */
const GIVES: readonly [string, DataObject, DataObject, DataObject][] = [
  ['storage.table.insert', {}, { rowId: 'r' }, { rowId: 'r', id: 'r' }],
  [
    'storage.table.upsert',
    {},
    { rowId: 'r', inserted: true },
    { rowId: 'r', id: 'r', inserted: true, updated: false },
  ],
  [
    'storage.blob.put',
    { key: 'k' },
    { url: 'u', sizeBytes: 2 },
    { url: 'u', sizeBytes: 2, size: 2, key: 'k' },
  ],
  [
    'storage.blob.get',
    { bucket: 'b' },
    { bytes: bytes('hi') },
    { bytes: bytes('hi'), found: true, contentBase64: 'aGk=', size: 2 },
  ],
  ['storage.queue.dequeue', { queue: 'q' }, { messages: [] }, { messages: [], found: false }],
  ['queueBus.ack', { messageId: 'm' }, { ok: true }, { ok: true, acked: true }],
  ['db.sql.execute', {}, { rowsAffected: 3 }, { rowsAffected: 3, affected: 3 }],
  ['db.search.index', { document: {} }, { indexed: 1 }, { indexed: true }],
  ['db.vector.query', { vector: [] }, { matches: [] }, { hits: [] }],
  [
    'fs.read',
    { encoding: 'base64' },
    { bytes: bytes('hi') },
    { bytes: bytes('hi'), content: 'aGk=', size: 2 },
  ],
  [
    'fs.pdf.split',
    { contentBase64: '' },
    { parts: [{ bytes: bytes('hi'), pages: 1 }] },
    { parts: [{ contentBase64: 'aGk=', pages: 1 }] },
  ],
  ['fs.pdf.merge', { parts: ['aGk='] }, { bytes: bytes('hi') }, { contentBase64: 'aGk=' }],
  ['fs.pdf.merge', { parts: [bytes('hi')] }, { bytes: bytes('hi') }, { bytes: bytes('hi') }],
  [
    'fs.stat',
    {},
    { sizeBytes: 1, modifiedAt: 't' },
    { exists: true, sizeBytes: 1, modifiedAt: 't', size: 1, mtime: 't' },
  ],
];

const spellingOf = (path: string, input: DataObject) =>
  SPELLINGS.find((each) => each.path === path && (each.when === undefined || each.when in input)) ??
  assert.fail(`${path} has no spelling`);

for (const [path, input, to, expected] of TAKES) {
  test(`ctx.${path} with ${Object.keys(input)} is ${to}`, () => {
    const spelling = spellingOf(path, input);
    assert.equal(spelling.to, to);
    assert.deepEqual(through(spelling.takes, input, { input, now: 0 }), expected);
  });
}

for (const [path, input, answer, expected] of GIVES) {
  test(`the answer of ctx.${path} has ${Object.keys(expected)}`, () => {
    assert.deepEqual(through(spellingOf(path, input).gives, answer, { input, now: 0 }), expected);
  });
}

test('records become vectors, and documents become docs', () => {
  const records = { collection: 'c', records: [{ id: '1', vector: [1], metadata: {} }] };
  const vectors = through(spellingOf('db.vector.upsert', records).takes, records, { input: records, now: 0 });
  assert.deepEqual(vectors.vectors, [{ id: '1', embedding: [1], metadata: {} }]);
  const rich = { a: 'x', n: 1, list: ['y', 2], deep: { b: ['z', null] }, empty: [], none: null };
  const document = { index: 'i', id: '1', document: rich };
  const docs = through(spellingOf('db.search.index', document).takes, document, { input: document, now: 0 });
  assert.deepEqual(docs.docs, [{ id: '1', fields: { a: 'x', n: 1, list: 'y\n2', deep: 'z' } }]);
});

test('a value that no step understands is left for the schema to refuse', () => {
  for (const { takes, gives, path } of SPELLINGS)
    for (const odd of [
      {},
      { entries: 1, records: 'x', statements: null, contentBase64: 5, content: {}, bytes: 1 },
    ])
      assert.doesNotThrow(() => {
        through(takes, odd, { input: odd, now: 0 });
        through(gives, odd, { input: odd, now: 0 });
      }, path);
});
