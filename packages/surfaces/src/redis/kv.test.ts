import { describe } from 'node:test';
import { kvContract } from '../ports/kv-contract.ts';
import { openTestRedis, redisSkip } from '../testing/redis.ts';
import { openRedisDatabase } from './connection.ts';
import { redisKv } from './kv.ts';

describe('Redis', { skip: redisSkip }, () => {
  kvContract('Redis', async () => {
    const server = await openTestRedis();
    const database = openRedisDatabase(server);
    return {
      portOf: (quotaBytes) => redisKv({ database, quotaBytes, invocationRetentionMs: 60_000 }),
      async close() {
        await database.close();
        await server.stop();
      },
    };
  });
});
