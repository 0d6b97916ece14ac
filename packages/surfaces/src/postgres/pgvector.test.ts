/** With pgvector, where `GANTRY_TEST_PGVECTOR_URL` names a server that has it: no package brings it along. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import postgres from 'postgres';
import { VECTORS_CONTRACT_LIMITS, vectorsContract } from '../ports/vectors-contract.ts';
import { openPostgresDatabase } from './connection.ts';
import { openPostgresVectors } from './vectors.ts';

const administrator = process.env.GANTRY_TEST_PGVECTOR_URL;

async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}

async function openPgvector(address: string) {
  const name = `gantry_test_${randomBytes(6).toString('hex')}`;
  await administer(address, `create database ${name}`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  await administer(url.href, 'create extension vector');
  const database = await openPostgresDatabase({ url: url.href });
  const { port, hasPgvector } = await openPostgresVectors(database, VECTORS_CONTRACT_LIMITS);
  assert.ok(hasPgvector);
  return {
    port,
    async close() {
      await database.close();
      await administer(address, `drop database ${name} with (force)`);
    },
  };
}

if (administrator) vectorsContract('pgvector', () => openPgvector(administrator));
else test('pgvector', { skip: 'set GANTRY_TEST_PGVECTOR_URL to a server that has pgvector' });
