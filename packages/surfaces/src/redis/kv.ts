/** The kv port on Redis. */
import { OpenwopError } from '@gantry/protocol';
import {
  KV_ACTUAL_BYTES_MAX,
  type KvIncrement,
  type KvKey,
  type KvPort,
  type KvRange,
  type KvSwapped,
} from '../ports/kv.ts';
import type { PortRead, PortWrite } from '../surface-call.ts';
import { act, type RedisDeps } from './act.ts';
import type { RedisDatabase } from './connection.ts';
import {
  afterName,
  boundsOf,
  entriesKey,
  keyIn,
  keysOf,
  markOf,
  NULL_MARK,
  NUMBER_MARK,
  nameOf,
  readEntry,
} from './places.ts';
import { SCRIPTS, type Script } from './scripts.ts';

export interface RedisKvOptions extends RedisDeps {
  readonly quotaBytes: number;
}

export function redisKv(options: RedisKvOptions): KvPort {
  const { database, quotaBytes: quota } = options;
  const write = async <T>(
    script: Script,
    place: KvKey,
    call: PortWrite,
    args: readonly (string | number)[],
  ): Promise<T> => {
    const acted = await act(options, script, { area: 'kv', call }, [nameOf(place), ...args]);
    if (acted.kind === 'refused') throw refusalOf(acted.reason, place.key, quota);
    return acted.answer as T;
  };
  return {
    async get(place, { tenant, now }) {
      const raw = await database.ask((redis) => redis.hget(entriesKey('kv', tenant), nameOf(place)));
      if (raw === null) return null;
      const { expiresAt, text } = readEntry(raw);
      return expiresAt !== null && expiresAt <= now ? null : { value: JSON.parse(text), expiresAt };
    },
    list: (range, call) => list(database, range, call),
    put: ({ value, expiresAt, ...place }, call) =>
      write<{ replaced: boolean }>(SCRIPTS.kvPut, place, call, [
        expiresAt ?? 0,
        markOf(value),
        JSON.stringify(value),
        quota,
      ]),
    delete: (place, call) => write<{ deleted: boolean }>(SCRIPTS.kvDelete, place, call, []),
    increment: ({ delta, ...place }, call) =>
      write<KvIncrement>(SCRIPTS.kvIncrement, place, call, [delta, NUMBER_MARK, quota]),
    compareAndSwap: ({ expected, value, ...place }, call) =>
      write<KvSwapped>(SCRIPTS.kvCompareAndSwap, place, call, [
        quota,
        KV_ACTUAL_BYTES_MAX,
        markOf(expected),
        JSON.stringify(expected),
        markOf(value),
        JSON.stringify(value),
        NUMBER_MARK,
        NULL_MARK,
      ]),
  };
}

/** In stretches, so that expired keys, however many, never hold up the server for long. */
async function list(
  database: RedisDatabase,
  { namespace, prefix, after, limit }: KvRange,
  { tenant, now }: PortRead,
): Promise<string[]> {
  const [start, to] = boundsOf(namespace, prefix);
  const keys: string[] = [];
  let from = after === null ? start : afterName(nameOf({ namespace, key: after }));
  for (;;) {
    const args = [now, tenant, from, to, limit - keys.length];
    const reply = await database.run(SCRIPTS.kvList, keysOf('kv', tenant), args);
    const [names, last] = reply as [names: string[], last?: string];
    keys.push(...names.map((name) => keyIn(namespace, name)));
    if (last === undefined || keys.length === limit) return keys;
    from = afterName(last);
  }
}

function refusalOf(reason: string, key: string, quotaBytes: number): OpenwopError {
  switch (reason) {
    case 'full':
      return new OpenwopError('kv_quota_exhausted', { details: { quotaBytes } });
    case 'not_a_number':
      return new OpenwopError('validation_error', { message: `The key "${key}" holds no number to add to.` });
    case 'too_large':
      return new OpenwopError('validation_error', {
        message: `The number at "${key}" would become too large to be exact.`,
      });
    default:
      throw new Error(`A script refused with ${reason}`);
  }
}
