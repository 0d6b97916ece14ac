import { describe } from 'node:test';
import { CACHE_CONTRACT_CAPACITY, cacheContract } from '../ports/cache-contract.ts';
import { openTestRedis, redisSkip } from '../testing/redis.ts';
import { redisCache } from './cache.ts';
import { openRedisDatabase } from './connection.ts';

describe('Redis', { skip: redisSkip }, () => {
  cacheContract('Redis', async () => {
    const server = await openTestRedis();
    const database = await openRedisDatabase(server);
    return {
      port: redisCache({ database, capacityBytes: CACHE_CONTRACT_CAPACITY, invocationRetentionMs: 60_000 }),
      async close() {
        await database.close();
        await server.stop();
      },
    };
  });
});
