import { describe } from 'node:test';
import { cacheContract } from '../ports/cache-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresCache } from './cache.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  cacheContract('postgres', async () => {
    const { database, close } = await openTestPostgres();
    return { portOf: (capacityBytes) => postgresCache(database, { capacityBytes }), close };
  });
});
