import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '@gantry/protocol';
import type { PortWrite } from '../calls/surface-call.ts';
import { entryBytes } from '../capabilities/kv/entry-bytes.ts';
import type { CacheEntry, CacheKey, CachePort } from '../ports/cache.ts';
import type { EmbeddedDatabase } from './database.ts';
import { defineArea, LIMIT } from './statements.ts';

type Use = readonly [id: number, usedAt: number];

interface Row {
  readonly id: number;
  readonly value: string;
  readonly stored_at: number;
  readonly expires_at: number;
}

interface Target extends CacheKey {
  readonly tenant: string;
}

const SAVE = `
  insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set value = excluded.value, bytes = excluded.bytes, stored_at = excluded.stored_at,
    used_at = excluded.used_at, expires_at = excluded.expires_at
`;

export const cacheArea = defineArea({
  reads: (database) => {
    const find = database.prepare(`
      select id, value, stored_at, expires_at from cache
      where tenant = ? and namespace = ? and key = ? and expires_at > ?
    `);
    return {
      get({ tenant, namespace, key }: Target, now: number): (CacheEntry & { id: number }) | null {
        const row = find.get(tenant, namespace, key, now) as Row | undefined;
        if (!row) return null;
        const { id, stored_at: storedAt, expires_at: expiresAt } = row;
        return { id, value: JSON.parse(row.value), storedAt, expiresAt };
      },
      isLarge: largeNamespaces(database),
    };
  },
  writes: (database) => ({ ...entryWrites(database), ...upkeep(database) }),
});

/** Evicted at once in the thread of all writers. Measured: 15 ms. */
const EVICTED_AT_ONCE = 1_000;

/** Whether to evict a namespace is more than can be done at once. A call that is on record does nothing more. */
function largeNamespaces(database: DatabaseSync) {
  const recorded = database.prepare('select 1 from invocations where tenant = ? and journal_key = ?');
  const some = database.prepare(
    `select count(*) as many from (select 1 from cache where tenant = ? and namespace = ? ${LIMIT})`,
  );
  return (tenant: string, namespace: string, invocation: string): boolean =>
    !recorded.get(tenant, invocation) &&
    Number(some.get(tenant, namespace, EVICTED_AT_ONCE + 1)?.many) > EVICTED_AT_ONCE;
}

function entryWrites(database: DatabaseSync) {
  const save = database.prepare(SAVE);
  const use = database.prepare('update cache set used_at = ? where id = ? and used_at < ?');
  const makeRoom = making(database);
  const evictOne = database.prepare(
    'delete from cache where tenant = ? and namespace = ? and key = ? returning expires_at',
  );
  const evictAll = database.prepare(
    'delete from cache where tenant = ? and namespace = ? returning expires_at',
  );
  const evictSome = database.prepare(`
    delete from cache where id in (select id from cache where tenant = ? and namespace = ? ${LIMIT})
    returning expires_at
  `);
  return {
    put(
      { tenant, namespace, key }: Target,
      entry: { readonly value: Json; readonly expiresAt: number },
      { now, capacity, uses }: { now: number; capacity: number; uses: readonly Use[] },
    ): null {
      for (const [id, usedAt] of uses) use.run(usedAt, id, usedAt);
      const value = JSON.stringify(entry.value);
      const bytes = entryBytes({ namespace, key }, value);
      save.run(tenant, namespace, key, value, bytes, now, now, entry.expiresAt);
      makeRoom(tenant, capacity, now);
      return null;
    },
    /** `before`: how many left in steps before. */
    evict(
      tenant: string,
      namespace: string,
      key: string | null,
      { now, before }: { now: number; before: number },
    ): { evicted: number } {
      const rows = key === null ? evictAll.all(tenant, namespace) : evictOne.all(tenant, namespace, key);
      return { evicted: before + living(rows, now) };
    },
    evictSome(tenant: string, namespace: string, now: number): { evicted: number; isMore: boolean } {
      const rows = evictSome.all(tenant, namespace, EVICTED_AT_ONCE);
      return { evicted: living(rows, now), isMore: rows.length === EVICTED_AT_ONCE };
    },
  };
}

const living = (rows: readonly Record<string, unknown>[], now: number): number =>
  rows.filter((row) => Number(row.expires_at) > now).length;

/** Exported for its plan. */
export const DROP_EXPIRED = `
  delete from cache where id in
    (select id from cache where tenant = ? and expires_at <= ? order by expires_at ${LIMIT})
`;
const EXPIRED_AT_ONCE = 500;

/** What has expired leaves first, then what was used longest ago. */
function making(database: DatabaseSync): (tenant: string, capacity: number, now: number) => void {
  const used = database.prepare(`select bytes from usage where area = 'cache' and tenant = ?`);
  const dropExpired = database.prepare(DROP_EXPIRED);
  const dropOldest = database.prepare(`
    delete from cache where id = (select id from cache where tenant = ? order by used_at, id limit 1)
  `);
  return (tenant, capacity, now) => {
    const isFull = () => Number(used.get(tenant)?.bytes ?? 0) > capacity;
    while (isFull() && dropExpired.run(tenant, now, EXPIRED_AT_ONCE).changes > 0);
    while (isFull()) dropOldest.run(tenant);
  };
}

function upkeep(database: DatabaseSync) {
  const sweep = database.prepare(
    `delete from cache where id in (select id from cache where expires_at <= ? order by expires_at ${LIMIT})`,
  );
  return { sweep: (now: number, limit: number): number => Number(sweep.run(now, limit).changes) };
}

/** Reads do not write. When values were used is kept here, and goes along with the next put. */
const USES_MAX = 4_096;

export function embeddedCache(
  database: EmbeddedDatabase,
  { capacityBytes: capacity }: { readonly capacityBytes: number },
): CachePort {
  const uses = new Map<number, number>();
  const note = (id: number, now: number): void => {
    uses.set(id, now);
    if (uses.size > USES_MAX) uses.delete(uses.keys().next().value!);
  };
  return {
    async get({ namespace, key }, { tenant, now }) {
      const entry = await database.read('cache', 'get', { tenant, namespace, key }, now);
      if (entry === null) return null;
      const { id, ...found } = entry;
      note(id, now);
      return found;
    },
    async put({ namespace, key, value, expiresAt }, call) {
      const facts = { now: call.now, capacity, uses: [...uses] };
      uses.clear();
      const target = { tenant: call.tenant, namespace, key };
      await database.write('cache', 'put', call, target, { value, expiresAt }, facts);
    },
    async evict({ namespace, key }, call) {
      const { tenant, now } = call;
      const before = key === null ? await evictMost(database, namespace, call) : 0;
      return database.write('cache', 'evict', call, tenant, namespace, key, { now, before });
    },
  };
}

/** Evicts most of a large namespace in steps between which others write. Answers how many. */
async function evictMost(
  database: EmbeddedDatabase,
  namespace: string,
  { tenant, now, invocation }: PortWrite,
): Promise<number> {
  if (!(await database.read('cache', 'isLarge', tenant, namespace, invocation.journalKey))) return 0;
  for (let evicted = 0; ; ) {
    const step = await database.upkeep('cache', 'evictSome', tenant, namespace, now);
    evicted += step.evicted;
    if (!step.isMore) return evicted;
  }
}
