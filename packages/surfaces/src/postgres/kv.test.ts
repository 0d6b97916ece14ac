import { describe } from 'node:test';
import { kvContract } from '../ports/kv-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresKv } from './kv.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  kvContract('postgres', async () => {
    const { database, close } = await openTestPostgres();
    return { portOf: (quotaBytes) => postgresKv(database, { quotaBytes }), close };
  });
});
