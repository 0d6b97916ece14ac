import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVERYTHING, isEqual } from '../capabilities/documents/filter.ts';
import { best, scoring } from '../capabilities/vector/metric.ts';
import { VECTOR_LIMITS, vectorsPort } from '../capabilities/vector/surface.ts';
import { openPort } from '../open-port.ts';
import type { VectorsPort } from '../ports/vectors.ts';
import { VECTORS_CONTRACT_LIMITS, vectorsContract } from '../ports/vectors-contract.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { openDeps, withBackends } from '../testing/open-deps.ts';
import { openTestPgvector, type TestPgvector } from '../testing/pgvector.ts';
import { clusteredVectors, seededRandom } from '../testing/random-vectors.ts';
import { openPostgresDatabase, type PostgresDatabase } from './connection.ts';
import { postgresVectors } from './vectors.ts';

describe('PostgreSQL with pgvector', () => {
  let server: TestPgvector;
  let database: PostgresDatabase;
  before(async () => {
    server = await openTestPgvector();
    database = openPostgresDatabase({ url: server.url });
  });
  after(async () => {
    await database.close();
    await server.close();
  });

  const open = async (limits = VECTOR_LIMITS): Promise<VectorsPort> => {
    const opened = postgresVectors(database, () => limits);
    await opened.health();
    assert.equal(opened.kind, 'pgvector');
    return opened.port;
  };

  vectorsContract('pgvector', async () => ({
    port: await open(VECTORS_CONTRACT_LIMITS),
    close: async () => {},
  }));

  test('the surface is told apart from one without it, once it was looked at', async (t) => {
    const opened = await openPort(vectorsPort, withBackends(await openDeps(t), { vectors: server.url }));
    await opened.health();
    assert.equal(opened.kind, 'pgvector');
  });

  test('a filter takes nothing from the recall, and each search is planned for its collection', async () => {
    await findsBehindFilter(await open());
    const kept = await database.read(
      (sql) => sql`select statement from pg_prepared_statements where statement like ${'%_distance(%'}`,
    );
    assert.deepEqual([...kept], []);
  });

  test('more than a search can look at in time is refused', async () => {
    const [port, tenant] = [await open(), freshTenant()];
    const upsert = (id: string) =>
      port.upsert(
        {
          collection: 'c',
          metric: null,
          vectors: [{ id, embedding: new Float32Array(4_000), metadata: null }],
        },
        write(tenant),
      );
    await upsert('a');
    await server.administer(
      `update gantry_surfaces.vector_collections set vectors = 99999 where tenant = '${tenant}'`,
    );
    await upsert('b');
    await assert.rejects(upsert('c'), { code: 'conflict', details: { vectorsMax: 100_000 } });
    await upsert('b');
  });

  test('the extension may be in any schema', async () => {
    await server.administer(
      'create schema "of ""others"""',
      'alter extension vector set schema "of ""others"""',
    );
    await findsBehindFilter(await open());
  });
});

/** One vector in a hundred matches: an index that is filtered afterwards would find next to none of them. */
async function findsBehindFilter(port: VectorsPort): Promise<void> {
  const tenant = freshTenant();
  const embeddings = clusteredVectors(1_000, 16, seededRandom(5));
  const vectors = embeddings.map((embedding, index) => ({
    id: `v${index}`,
    embedding,
    metadata: { group: index % 100 },
  }));
  for (const metric of ['cosine', 'dot', 'l2'] as const) {
    await port.upsert({ collection: metric, metric, vectors }, write(tenant));
    const [query] = embeddings;
    const scoreOf = scoring(metric, query!);
    const wanted = vectors
      .filter(({ metadata }) => metadata.group === 42)
      .map(({ id, embedding, metadata }) => ({ id, score: scoreOf(embedding), metadata }));
    const asked = { collection: metric, embedding: query!, k: 10, filter: isEqual(['group'], 42) };
    assert.deepEqual(await port.query(asked, read(tenant)), best(wanted, 10));
    assert.equal((await port.query({ ...asked, filter: EVERYTHING }, read(tenant))).length, 10);
  }
}
