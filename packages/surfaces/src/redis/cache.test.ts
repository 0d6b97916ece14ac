import { describe } from 'node:test';
import { cacheContract } from '../ports/cache-contract.ts';
import { openTestRedis, redisSkip } from '../testing/redis.ts';
import { redisCache } from './cache.ts';
import { openRedisDatabase } from './connection.ts';

describe('Redis', { skip: redisSkip }, () => {
  cacheContract('Redis', async () => {
    const server = await openTestRedis();
    const database = openRedisDatabase(server);
    return {
      portOf: (capacityBytes) => redisCache({ database, capacityBytes, invocationRetentionMs: 60_000 }),
      async close() {
        await database.close();
        await server.stop();
      },
    };
  });
});
