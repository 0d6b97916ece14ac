/** The Redis servers of a host, and the ports on them. */
import type { Backends } from '../open-port.ts';
import { type RedisDeps, sweep } from './act.ts';
import { openRedisDatabase, type RedisDatabase } from './connection.ts';

export interface RedisPoolOptions {
  /** How long a node that runs again finds the answers of its calls. */
  readonly invocationRetentionMs: number;
  /** What the operator should know of a server. */
  readonly report: (message: string) => void;
}

export interface RedisPool extends RedisPoolOptions {
  /** Ports with the same address share one connection. */
  open(url: string): Promise<RedisDatabase>;
  /** Deletes what is past its time; answers how much it was. Answers of calls go by themselves. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}

export function createRedisPool(options: RedisPoolOptions): RedisPool {
  const opened = new Map<string, Promise<RedisDatabase>>();
  return {
    ...options,
    open(url) {
      const known = opened.get(url) ?? openRedisDatabase({ url });
      opened.set(url, known);
      known.catch(() => opened.delete(url));
      return known;
    },
    async sweep(now) {
      let deleted = 0;
      for (const each of opened.values())
        for (const area of ['kv', 'cache'] as const) deleted += await sweep(await each, area, now);
      return deleted;
    },
    async close() {
      const databases = await Promise.allSettled(opened.values());
      opened.clear();
      await Promise.all(databases.map((each) => each.status === 'fulfilled' && each.value.close()));
    },
  };
}

/** `durable` for what must not be lost. */
export function redisBackends<Port>(
  pool: RedisPool,
  needs: 'durable' | 'volatile',
  portOver: (deps: RedisDeps) => Port,
): Backends<Port> {
  const open = async (url: string) => {
    const database = await pool.open(url);
    await database.health(needs);
    if (needs === 'durable') await reportSyncs(database, pool);
    const { invocationRetentionMs } = pool;
    return {
      kind: 'redis',
      port: portOver({ database, invocationRetentionMs }),
      health: () => database.health(needs),
    };
  };
  return { redis: open, rediss: open };
}

async function reportSyncs(database: RedisDatabase, { report }: RedisPool): Promise<void> {
  const syncs = await database.syncs();
  if (syncs === 'always') return;
  report(
    `Redis at ${database.address} has appendfsync ${syncs}: writes of its last moments are lost when its machine ` +
      'fails. Set appendfsync to always.',
  );
}
