/** Filters and cursors as pack code sends them, in every backend. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import type { DocumentsPort } from '../../ports/documents.ts';
import { postgresDocuments } from '../../postgres/documents.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { embeddedDocuments } from '../../sqlite/documents.ts';
import { freshTenant } from '../../testing/calls.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openTestPostgres, postgresSkip } from '../../testing/postgres.ts';
import { callGateOf, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import { HOSTILE_NAMES, REJECTED_FILTERS } from './injection-corpus.ts';
import { implementNosql, NOSQL_LIMITS } from './surface.ts';

type Answer = { [name: string]: Data };

interface Opened {
  readonly port: DocumentsPort;
  close(): Promise<void>;
}

async function openEmbedded(): Promise<Opened> {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    port: embeddedDocuments(database, NOSQL_LIMITS),
    async close() {
      await database.close();
      folder.remove();
    },
  };
}

async function openPostgres(): Promise<Opened> {
  const { database, close } = await openTestPostgres();
  return { port: postgresDocuments(database, NOSQL_LIMITS), close };
}

function filtersAndCursors(driver: string, open: () => Promise<Opened>, skip: string | false = false): void {
  describe(`ctx.db.nosql: ${driver}`, { skip }, () => {
    let opened: { readonly backend: Opened; readonly callGate: TestCallGate } | null = null;
    before(async () => {
      const backend = await open();
      const datasources = [{ id: 'primary', driver, tenants: '*' as const, port: backend.port }];
      const cursors = createCursors(new Uint8Array(32));
      opened = { backend, callGate: callGateOf([implementNosql({ datasources, cursors })]) };
    });
    after(() => opened?.backend.close());
    let node = 0;
    const callsOf =
      (tenant = freshTenant()) =>
      async (method: string, input: Answer) => {
        const call = nodeOf(opened?.callGate ?? assert.fail('not open'), {
          tenant,
          nodeId: `node-${++node}`,
        });
        return (await call(`db.nosql.${method}`, { collection: 'c', ...input })) as Answer;
      };
    test('everything that is not listed is refused, for each method that takes one', () =>
      refusals(callsOf()));
    test('names and values that mean something to SQL are names and values', () => hostileNames(callsOf()));
    test('pages end without a cursor, and cursors belong to their tenant', () => pages(callsOf));
  });
}

type Calls = (method: string, input: Answer) => Promise<Answer>;

async function refusals(once: Calls): Promise<void> {
  await once('insert', { doc: { id: 'kept', a: 1 } });
  let deep: Answer = { a: 1 };
  for (let level = 0; level < 11; level++) deep = { $not: deep };
  for (const filter of [...REJECTED_FILTERS, deep]) {
    const asked = { datasource: 'primary', filter };
    for (const [method, input] of [
      ['query', { filter }],
      ['delete', asked],
      ['update', { ...asked, update: { a: 2 } }],
    ] as const)
      await assert.rejects(
        once(method, input),
        { code: 'nosql_filter_rejected' },
        `${method} ${JSON.stringify(filter).slice(0, 100)}`,
      );
  }
  assert.deepEqual(await once('get', { id: 'kept' }), { doc: { id: 'kept', a: 1 } });
}

async function hostileNames(once: Calls): Promise<void> {
  for (const name of HOSTILE_NAMES) {
    const doc = { id: name, [name]: name };
    await once('insert', { doc });
    assert.deepEqual((await once('query', { filter: { [name]: name } })).docs, [doc]);
  }
}

async function pages(callsOf: (tenant?: string) => Calls): Promise<void> {
  const [once, other] = [callsOf(), callsOf()];
  for (const calls of [once, other]) await calls('insert', { docs: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  const first = await once('query', { filter: {}, limit: 2 });
  const rest = { filter: {}, limit: 2, cursor: first.nextCursor! };
  const last = await once('query', rest);
  assert.deepEqual([Object.keys(last), (last.docs as Data[]).length], [['docs'], 1]);
  const foreign = { code: 'validation_error', message: /cursor/ };
  await assert.rejects(other('query', rest), foreign);
  await assert.rejects(once('query', { ...rest, collection: 'd' }), foreign);
  await assert.rejects(once('query', { ...rest, filter: { n: 1 } }), foreign);
}

filtersAndCursors('sqlite', openEmbedded);
filtersAndCursors('postgres', openPostgres, postgresSkip);
