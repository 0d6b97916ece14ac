/** The Redis servers of a host, and the ports on them. */
import { sweptUnlessAway } from '../backend-errors.ts';
import { type Backends, SETTINGS } from '../open-port.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
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
  open(url: string): RedisDatabase;
  /** Deletes what is past its time; answers how much it was. Answers of calls go by themselves. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}

export function createRedisPool(options: RedisPoolOptions): RedisPool {
  const databases = new Map<string, RedisDatabase>();
  return {
    ...options,
    open(url) {
      const known = databases.get(url) ?? openRedisDatabase({ url });
      databases.set(url, known);
      return known;
    },
    async sweep(now) {
      let deleted = 0;
      for (const each of databases.values())
        for (const area of ['kv', 'cache'] as const) deleted += await sweptUnlessAway(sweep(each, area, now));
      return deleted;
    },
    async close() {
      await Promise.all([...databases.values()].map((each) => each.close()));
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
    const database = judged(pool.open(url), needs, pool);
    const { invocationRetentionMs } = pool;
    return {
      kind: 'redis',
      port: portOver({ database, invocationRetentionMs }),
      health: () => database.health(needs),
    };
  };
  return { redis: open, rediss: open };
}

/** Nothing is asked of a server before it is known to keep what this port needs it to keep. */
function judged(database: RedisDatabase, needs: 'durable' | 'volatile', pool: RedisPool): RedisDatabase {
  const judgement = openedWhenNeeded({
    async open() {
      await database.health(needs);
      if (needs === 'durable') await reportSyncs(database, pool);
    },
  });
  return {
    ...database,
    ask: async (work) => {
      await judgement.get();
      return database.ask(work);
    },
    run: async (...script) => {
      await judgement.get();
      return database.run(...script);
    },
    async health() {
      await judgement.get();
      await database.health(needs);
    },
  };
}

/** Keys are what must not be lost: their setting is the one to name. */
async function reportSyncs(database: RedisDatabase, { report }: RedisPool): Promise<void> {
  const syncs = await database.syncs();
  if (syncs === 'always') return;
  const server = `${SETTINGS.kv}: Redis at ${database.address}`;
  report(
    syncs === 'unknown'
      ? `${server} does not let the user ask for its settings (CONFIG GET): what it does not write to its disk is lost ` +
          'when it ends. Have appendonly set to yes, and appendfsync to always.'
      : `${server} has appendfsync ${syncs}: writes of its last moments are lost when its machine fails. Set ` +
          'appendfsync to always.',
  );
}
