/** Indexes are filled in steps, each a transaction of its own. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isEqual } from '../capabilities/documents/filter.ts';
import { TABLE_LIMITS } from '../capabilities/table/surface.ts';
import type { DocumentsPort, WhenNone } from '../ports/documents.ts';
import { read, write } from '../testing/calls.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import type { Tx } from './connection.ts';
import { documentWrites } from './document-writes.ts';
import { postgresDocuments } from './documents.ts';

const name = { space: 's', collection: 'c' };
const ALL = 2_500;

/** By this connection, as far as it has not reported it. */
async function documentsRead(tx: Tx): Promise<number> {
  const [seen] = await tx<{ many: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::integer as many from pg_stat_xact_user_tables where relname = 'documents'
  `;
  return seen?.many ?? assert.fail('the table is unknown');
}

describe('PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres;
  let port: DocumentsPort;
  before(async () => {
    opened = await openTestPostgres();
    port = postgresDocuments(opened.database, TABLE_LIMITS);
  });
  after(() => opened.close());

  const fill = async (tenant: string): Promise<void> => {
    const documents = Array.from({ length: ALL }, (_, id) => ({
      id: `d${id}`,
      document: { id: `d${id}`, a: id % 7, b: `v${id}` },
    }));
    await port.insert({ ...name, documents, typed: true }, write(tenant));
  };
  const cells = async (tenant: string): Promise<number> => {
    const [row] = await opened.database.read(
      (sql) => sql<{ many: number }[]>`
        select count(*) as many from cells join collections on id = collection where tenant = ${tenant}
      `,
    );
    return Number(row?.many);
  };
  const indexesOf = async (tenant: string) => (await port.describe(name, read(tenant)))?.indexes;

  test('an index is used when all its cells are there; who asks next goes on where filling stopped', async () => {
    await fill('t');
    const columns = { ...(await port.describe(name, read('t')))!.columns!, closed: true };
    const wanted = { columns, indexes: ['a', 'b'] };
    const writes = documentWrites(TABLE_LIMITS);
    await opened.database.upkeep((tx) => writes.declare(tx, { ...name, tenant: 't' }, wanted));
    assert.equal(await cells('t'), 2_000, 'as a process leaves it that dies after the first step');
    const step = await opened.database.upkeep(async (tx) => {
      const before = await documentsRead(tx);
      await writes.fill(tx, { ...name, tenant: 't' });
      return (await documentsRead(tx)) - before;
    });
    assert.equal(step, 1_000, 'a step reads its own documents');
    assert.equal(await cells('t'), 4_000);
    assert.deepEqual(await indexesOf('t'), []);
    const filter = isEqual(['b'], 'v2400');
    assert.equal(await port.count({ ...name, filter }, read('t')), 1);
    const change = { ...name, filter, matchesMax: 1, whenNone: { do: 'refuse' } } as const;
    await port.patch({ ...change, patch: { a: 99 } }, write('t'));
    await port.delete({ ...name, filter: isEqual(['b'], 'v2300'), matchesMax: 1 }, write('t'));
    const declare = () => port.declare({ ...name, ...wanted }, write('t'));
    await Promise.all([declare(), declare()]);
    assert.deepEqual(await indexesOf('t'), ['a', 'b']);
    assert.equal(await cells('t'), 2 * (ALL - 1));
    assert.equal(await port.count({ ...name, filter: isEqual(['a'], 99) }, read('t')), 1);
  });

  test('fields that an upsert looks for are indexed whole before it is answered', async () => {
    await fill('u');
    const document = { id: 'new', b: 'new' };
    const whenNone: WhenNone = { do: 'insert', id: 'new', document, typed: true, indexes: ['b'] };
    const change = { ...name, filter: isEqual(['b'], 'new'), matchesMax: 1, patch: {}, whenNone };
    assert.equal((await port.patch(change, write('u'))).matched, 0);
    assert.deepEqual(await indexesOf('u'), ['b']);
    assert.equal(await cells('u'), ALL + 1);
  });
});
