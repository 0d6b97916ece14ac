import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { openPrivateRedis, privateRedisSkip } from '../testing/redis.ts';

const found = privateRedisSkip === false ? { open: () => openPrivateRedis() } : { skip: privateRedisSkip };

surfaceCrashContract('Redis', found, {
  works: ['increment', 'swap', 'cache'],
  settingsOf: (url) => ({ kv: url, cache: url }),
});
