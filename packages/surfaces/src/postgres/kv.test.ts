import { describe } from 'node:test';
import { CACHE_CONTRACT_CAPACITY, cacheContract } from '../ports/cache-contract.ts';
import { KV_CONTRACT_QUOTA, kvContract } from '../ports/kv-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresCache } from './cache.ts';
import { postgresKv } from './kv.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  kvContract('postgres', async () => {
    const { database } = await openTestPostgres();
    return { port: postgresKv(database, { quotaBytes: KV_CONTRACT_QUOTA }), close: () => database.close() };
  });

  cacheContract('postgres', async () => {
    const { database, close } = await openTestPostgres();
    return { port: postgresCache(database, { capacityBytes: CACHE_CONTRACT_CAPACITY }), close };
  });
});
