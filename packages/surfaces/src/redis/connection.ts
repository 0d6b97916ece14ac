/**
 * A Redis server as a place for entries.
 *
 * I1  Nothing waits for ever: connecting, commands and silent sockets have an end.
 * I2  Connected by who first needs it. Then the driver connects anew by itself, and sends again what had no
 *     answer: every write is on record, so a second one does nothing. What fails while the server is away is
 *     `storage_unavailable`.
 * I3  Nothing goes to another database than the one asked for: a connection that did not get it is of no use.
 *
 * @example
 * const database = openRedisDatabase({ url: 'redis://127.0.0.1:6379/0' });
 * const raw = await database.ask((redis) => redis.hget(key, name));
 */
import type { Redis } from 'ioredis';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { explain, explainOpening, isDenied, isOfDatabase, tooFewRights } from './errors.ts';
import { RIGHTS_KEY } from './places.ts';
import { SCRIPTS, type Script } from './scripts.ts';
import { assertDurable, assertUsable } from './server.ts';

export interface RedisDatabase {
  /** host:port, for messages. */
  readonly address: string;
  ask<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Uint8Array)[],
  ): Promise<unknown>;
  /**
   * Rejects with `storage_unavailable` when the server does not answer, does not let us work, or does not keep what it
   * is given.
   */
  health(needs: 'durable' | 'volatile'): Promise<void>;
  /** When the server brings what it was given to its disk: `always`, `everysec`, `no`, or unknown. */
  syncs(): Promise<string>;
  /** Lets commands under way end. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 10_000;
/** Shorter: commands are still there to be sent again on a new connection. */
const SILENCE_MS = 4_000;
const RETRIES_MAX = 2;
const RECONNECT_MS_MAX = 400;
const RECONNECT_MS = 50;

interface Connected {
  readonly redis: Redis;
  /** Why there is no connection for now, where that is known. */
  trouble(): Error | undefined;
}

export function openRedisDatabase({ url }: { readonly url: string }): RedisDatabase {
  const address = addressOf(url);
  const opened = openedWhenNeeded({
    open: () => open(url, address, () => opened.forget()),
    close: ({ redis }) => close(redis),
  });
  const ask = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
    const { redis, trouble } = await opened.get();
    try {
      return await work(redis);
    } catch (error) {
      throw explain(error, address, trouble());
    }
  };
  return {
    address,
    ask,
    run: (script, keys, args) => ask((redis) => evaluate(redis, script, keys, args)),
    async health(needs) {
      const info = await ask(told);
      assertUsable(info, address);
      if (needs === 'durable') assertDurable(info, address);
      const denied = (await ask((redis) => evaluate(redis, SCRIPTS.rights, [RIGHTS_KEY], []))) as string[];
      if (denied.length > 0) throw tooFewRights(address, denied.join(', '));
    },
    syncs: () => ask(syncs),
    close: opened.close,
  };
}

/** The driver takes what is no number for one, and dies of it; it reads `db` where the path names none. */
const DATABASE = /^\/?\d{0,9}$/;

/** What stands behind the question mark would be an option of the driver, before ours. */
function addressOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  for (const name of searchParams.keys())
    if (name !== 'db') throw new Error(`A Redis address has no setting "${name}"; there is "db".`);
  if (![pathname, searchParams.get('db') ?? ''].every((database) => DATABASE.test(database)))
    throw new Error('The database of a Redis server is a number. Write it as in redis://127.0.0.1:6379/0.');
  return `${hostname || 'localhost'}:${port || '6379'}`;
}

async function open(url: string, address: string, forget: () => void): Promise<Connected> {
  let trouble: Error | undefined;
  let isOpen = false;
  const redis = await connect(url, () => isOpen);
  redis
    .on('error', (error: Error) => {
      trouble = error;
      if (!isOfDatabase(error)) return;
      // I3: the driver would go on in database 0
      redis.disconnect();
      if (isOpen) forget();
    })
    .on('ready', () => {
      trouble = undefined;
    });
  try {
    assertUsable(await told(redis), address);
    isOpen = true;
    return { redis, trouble: () => trouble };
  } catch (error) {
    redis.disconnect();
    throw explainOpening(error, address, trouble);
  }
}

/** The driver is loaded where a server is named: most hosts have none. It connects anew only what was open. */
async function connect(url: string, isOpen: () => boolean): Promise<Redis> {
  const { Redis } = await import('ioredis');
  return new Redis(url, {
    connectionName: 'gantry-surfaces',
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
    maxRetriesPerRequest: RETRIES_MAX,
    retryStrategy: (times) => (isOpen() ? Math.min(RECONNECT_MS * 2 ** times, RECONNECT_MS_MAX) : null),
    // A server that has become a replica: the name may lead to the new primary by now
    reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
  });
}

/** A server that was restarted has forgotten the scripts. */
async function evaluate(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number | Uint8Array)[],
): Promise<unknown> {
  const { lua, sha1 } = script();
  const given = [...keys, ...args.map((each) => (each instanceof Uint8Array ? Buffer.from(each) : each))];
  try {
    return await redis.evalsha(sha1, keys.length, ...given);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(lua, keys.length, ...given);
  }
}

/** Null where the user may not ask: services that run Redis for others may forbid it. */
async function told(redis: Redis): Promise<string | null> {
  try {
    return await redis.info();
  } catch (error) {
    if (isDenied(error)) return null;
    throw error;
  }
}

/** Services that run Redis for others may forbid the question. */
async function syncs(redis: Redis): Promise<string> {
  try {
    const told = await redis.config('GET', 'appendfsync');
    return Array.isArray(told) ? String(told[1]) : 'unknown';
  } catch {
    return 'unknown';
  }
}

async function close(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => {});
  redis.disconnect();
}
