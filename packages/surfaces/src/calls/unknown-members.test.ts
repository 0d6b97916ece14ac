/** What a surface does not know it refuses: whoever sent it meant something by it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TObject } from 'typebox';
import { embeddedCallGate } from '../testing/embedded-call-gate.ts';
import { nodeOf } from '../testing/test-call-gate.ts';
import { SPELLINGS, SURFACES } from './catalogue.ts';
import type { DataObject } from './data.ts';
import { knownTo } from './spelling.ts';

const MISSPELT: [path: string, input: DataObject, message: RegExp][] = [
  [
    'storage.kv.put',
    { key: 'k', value: 1, ttl: 1 },
    /^ctx\.storage\.kv\.put: the argument takes no `ttl`\. Did you mean ttlSeconds\? It takes key, namespace, value, ttlSeconds\.$/,
  ],
  ['storage.kv.put', { key: 'k', vaule: 1 }, /takes no `vaule`\. Did you mean value\?/],
  ['storage.kv.atomicIncrement', { key: 'n', by: 5 }, /takes no `by`\. It takes key, namespace, delta\.$/],
  ['storage.table.query', { table: 't', where: {} }, /takes no `where`\. It takes table, filter, orderBy,/],
  ['storage.blob.presign', { key: 'k', expires: 60 }, /`expires`\. Did you mean expiresInSeconds\?/],
  [
    'db.sql.query',
    { sql: 'select 1 as n', database: 'shop' },
    /takes no `database`\. It takes datasourceId, /,
  ],
  [
    'db.sql.transaction',
    { operations: [{ sql: 'create table t (a text)' }, { sql: 'drop table t', param: [] }] },
    /the argument\/operations\/1 takes no `param`\. Did you mean params\? It takes sql, params\.$/,
  ],
  [
    'db.vector.upsert',
    { collection: 'c', records: [{ id: 'a', vector: [1], meta: {} }] },
    /the argument\/vectors\/0 takes no `meta`\. Did you mean metadata\?/,
  ],
  ['storage.kv.get', { key: 'k', constructor: 1 }, /takes no `constructor`/],
  ['storage.kv.get', { key: 'k', ['x'.repeat(100_000)]: 1 }, /takes no `x{64}`/],
];

describe('members that a method does not have', () => {
  test('are refused with what was meant, and nothing happens', async () => {
    const world = await embeddedCallGate();
    for (const [path, input, message] of MISSPELT)
      await assert.rejects(nodeOf(world)(path, input), { code: 'validation_error', message }, path);
    assert.deepEqual(await nodeOf(world)('storage.kv.get', { key: 'k' }), {
      found: false,
      ttlRemainingMs: null,
    });
  });

  test('are free where authors put their own', async () => {
    const call = nodeOf(await embeddedCallGate());
    const own = { anything: { at: ['all'] }, key: 1 };
    await call('storage.kv.put', { key: 'k', value: own });
    await call('storage.table.insert', { table: 't', row: own });
    await call('db.nosql.insert', { collection: 'c', doc: own });
    await call('db.vector.upsert', {
      collection: 'c',
      vectors: [{ id: 'a', embedding: [1], metadata: own }],
    });
    await call('db.search.index', { index: 'i', id: 'a', document: own });
    await call('queueBus.publish', { topic: 't', payload: own, headers: { key: 'a' } });
    const tables = { input_0: [own] };
    await call('db.sql.query', { sql: 'select key from input_0', tables });
  });
});

/** What nodes of published packs send: the members of their config and their inputs. */
const SENT: [path: string, members: string][] = [
  ['storage.kv.set', 'namespace ttlSeconds key value'],
  ['storage.kv.list', 'namespace limit prefix cursor'],
  ['storage.kv.atomicIncrement', 'namespace delta key'],
  ['storage.kv.cas', 'namespace key expect set'],
  ['storage.table.update', 'table filter update'],
  ['storage.table.upsert', 'table keyColumns row'],
  ['storage.table.query', 'table limit orderBy filter cursor'],
  ['storage.cache.put', 'namespace ttlSeconds key value'],
  ['storage.blob.put', 'bucket contentType key contentBase64'],
  ['storage.blob.presign', 'bucket operation ttlSeconds key'],
  ['storage.queue.enqueue', 'queue delaySeconds payload'],
  ['storage.queue.dequeue', 'queue durationMs'],
  ['db.sql.query', 'datasource sql params'],
  ['db.sql.transaction', 'datasource statements'],
  ['db.nosql.find', 'datasource collection limit filter projection sort'],
  ['db.nosql.update', 'datasource collection upsert filter update'],
  ['db.search.index', 'index id document'],
  ['db.search.query', 'index limit query filter'],
  ['db.vector.upsert', 'collection records'],
  ['db.vector.query', 'collection topK vector filter'],
  ['db.vector.delete', 'collection ids filter'],
  ['fs.read', 'encoding path'],
  ['fs.write', 'encoding mode path content'],
  ['fs.list', 'recursive includeHidden path'],
  ['fs.image.resize', 'width height fit contentBase64 contentType'],
  ['fs.image.crop', 'x y width height contentBase64 contentType'],
  ['fs.image.formatConvert', 'to quality contentBase64 contentType'],
  ['fs.archive.create', 'format entries'],
  ['fs.archive.extract', 'format contentBase64'],
  ['queueBus.publish', 'topic partitionKey payload headers'],
  ['queueBus.nack', 'requeue messageId'],
  ['queueBus.deadLetter', 'messageId reason'],
  ['queueBus.streamSubscribe', 'stream consumerGroup fromBeginning'],
  ['queueBus.streamPublish', 'stream record partitionKey'],
];

test('what published packs send is known', () => {
  const methods = new Map(
    SURFACES.flatMap(({ capability, path, methods }) =>
      Object.entries(methods).flatMap(([name, { input }]): [string, TObject][] =>
        [capability, path].map((of) => [`${of}.${name}`, input as TObject]),
      ),
    ),
  );
  for (const [path, sent] of SENT) {
    const members = sent.split(' ');
    const spelling = SPELLINGS.find(
      (each) => each.path === path && (each.when === undefined || members.includes(each.when)),
    );
    const { properties = {} } = methods.get(spelling?.to ?? path) ?? {};
    const known = [...Object.keys(properties), ...knownTo(spelling?.takes)];
    assert.deepEqual(
      members.filter((name) => !known.includes(name)),
      [],
      path,
    );
  }
});
