import type { Json } from '@gantry/protocol';
import type { PortWrite } from '../calls/surface-call.ts';
import { entryBytes } from '../capabilities/kv/entry-bytes.ts';
import type { CacheEntry, CacheKey, CachePort } from '../ports/cache.ts';
import type { EmbeddedDatabase } from './database.ts';
import { defineArea, isRecorded, LIMIT, type Sql, usedBytes } from './statements.ts';

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

interface PutFacts {
  readonly now: number;
  readonly capacity: number;
  readonly uses: readonly Use[];
}

/** The most values that are evicted at once in the writer thread. Measured: 15 ms. */
const EVICTED_AT_ONCE = 1_000;

export const cacheArea = defineArea({
  reads: (sql) => ({
    get({ tenant, namespace, key }: Target, now: number): (CacheEntry & { id: number }) | null {
      const row = sql.get<Row>`
        select id, value, stored_at, expires_at from cache
        where tenant = ${tenant} and namespace = ${namespace} and key = ${key} and expires_at > ${now}
      `;
      if (!row) return null;
      const { id, stored_at: storedAt, expires_at: expiresAt } = row;
      return { id, value: JSON.parse(row.value), storedAt, expiresAt };
    },
    /** Whether a namespace is too large to evict at once. */
    isLarge: (tenant: string, namespace: string, journalKey: string): boolean =>
      !isRecorded(sql, tenant, journalKey) &&
      sql.number`
        select count(*) from (select 1 from cache where tenant = ${tenant} and namespace = ${namespace}
          limit ${EVICTED_AT_ONCE + 1} + 0)
      ` > EVICTED_AT_ONCE,
  }),
  writes: (sql) => ({
    put(
      { tenant, namespace, key }: Target,
      entry: { readonly value: Json; readonly expiresAt: number },
      { now, capacity, uses }: PutFacts,
    ): null {
      for (const [id, usedAt] of uses)
        sql.run`update cache set used_at = ${usedAt} where id = ${id} and used_at < ${usedAt}`;
      const value = JSON.stringify(entry.value);
      const bytes = entryBytes({ namespace, key }, value);
      sql.run`
        insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
        values (${tenant}, ${namespace}, ${key}, ${value}, ${bytes}, ${now}, ${now}, ${entry.expiresAt})
        on conflict do update set value = excluded.value, bytes = excluded.bytes, stored_at = excluded.stored_at,
          used_at = excluded.used_at, expires_at = excluded.expires_at
      `;
      makeRoom(sql, tenant, capacity, now);
      return null;
    },
    /** `before`: how many values were already evicted in steps. */
    evict(
      tenant: string,
      namespace: string,
      key: string | null,
      { now, before }: { now: number; before: number },
    ): { evicted: number } {
      const rows =
        key === null
          ? sql.all<Expiring>`
              delete from cache where tenant = ${tenant} and namespace = ${namespace} returning expires_at
            `
          : sql.all<Expiring>`
              delete from cache where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
              returning expires_at
            `;
      return { evicted: before + living(rows, now) };
    },
    evictSome(tenant: string, namespace: string, now: number): { evicted: number; isMore: boolean } {
      const rows = sql.all<Expiring>`
        delete from cache where id in
          (select id from cache where tenant = ${tenant} and namespace = ${namespace} limit ${EVICTED_AT_ONCE} + 0)
        returning expires_at
      `;
      return { evicted: living(rows, now), isMore: rows.length === EVICTED_AT_ONCE };
    },
    sweep: (now: number, limit: number): number => sql.run`
      delete from cache where id in
        (select id from cache where expires_at <= ${now} order by expires_at limit ${limit} + 0)
    `,
  }),
});

type Expiring = Pick<Row, 'expires_at'>;

const living = (rows: readonly Expiring[], now: number): number =>
  rows.filter(({ expires_at }) => expires_at > now).length;

/** Exported to test its query plan. */
export const DROP_EXPIRED = `
  delete from cache where id in
    (select id from cache where tenant = ? and expires_at <= ? order by expires_at ${LIMIT})
`;
const EXPIRED_AT_ONCE = 500;

/** Evicts expired values first, then the least recently used. */
function makeRoom(sql: Sql, tenant: string, capacity: number, now: number): void {
  const isFull = () => usedBytes(sql, 'cache', tenant) > capacity;
  while (isFull() && sql.prepare(DROP_EXPIRED).run(tenant, now, EXPIRED_AT_ONCE).changes > 0);
  while (isFull())
    sql.run`delete from cache where id = (select id from cache where tenant = ${tenant} order by used_at, id limit 1)`;
}

/** Reads do not write: use times are kept here, and written with the next put. */
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

/** Evicts most of a large namespace in steps, between which other writes run. Answers the count. */
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
