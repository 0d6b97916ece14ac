import { describe } from 'node:test';
import { KV_CONTRACT_QUOTA, kvContract } from '../ports/kv-contract.ts';
import { openTestRedis, redisSkip } from '../testing/redis.ts';
import { openRedisDatabase } from './connection.ts';
import { redisKv } from './kv.ts';

describe('Redis', { skip: redisSkip }, () => {
  kvContract('Redis', async () => {
    const server = await openTestRedis();
    const database = await openRedisDatabase(server);
    return {
      port: redisKv({ database, quotaBytes: KV_CONTRACT_QUOTA, invocationRetentionMs: 60_000 }),
      async close() {
        await database.close();
        await server.stop();
      },
    };
  });
});
