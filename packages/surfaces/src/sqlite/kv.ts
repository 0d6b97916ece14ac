import type { Json } from '@gantry/protocol';
import { ENTRY_OVERHEAD_BYTES, entryBytes, incremented, swapped } from '../capabilities/kv/entry-bytes.ts';
import { boundsOf, type KeyBounds, listStretches, type Stretch } from '../capabilities/kv/key-range.ts';
import type { KvEntry, KvIncrement, KvKey, KvPort, KvRange, KvSwapped } from '../ports/kv.ts';
import { Refusal } from '../refusal.ts';
import type { EmbeddedDatabase } from './database.ts';
import { defineArea, LIMIT, type Sql, usedBytes } from './statements.ts';

interface Row {
  readonly value: string;
  readonly expires_at: number | null;
}

interface Target extends KvKey {
  readonly tenant: string;
}

interface Facts {
  readonly now: number;
  readonly quota: number;
}

/** Exported to test its query plan. */
export const listFrom = (operator: KeyBounds['operator']): string => `
  select key, expires_at from kv
  where tenant = ? and namespace = ? and key ${operator} ? and key < ? order by key ${LIMIT}
`;
/** SQLite sorts every text before it, so a range without an end needs no separate statement. */
export const ABOVE_TEXT = new Uint8Array(0);

export const kvArea = defineArea({
  reads: (sql) => ({
    get(target: Target, now: number): KvEntry | null {
      const row = find(sql, target, now);
      return row ? { value: JSON.parse(row.value), expiresAt: row.expires_at } : null;
    },
    list(tenant: string, { namespace, limit, ...page }: KvRange, lookedAtMax: number, now: number): Stretch {
      const { from, operator, end } = boundsOf(page);
      const rows = sql.prepare(listFrom(operator));
      const keys: string[] = [];
      let [lookedAt, last] = [0, ''];
      for (const row of rows.iterate(tenant, namespace, from, end ?? ABOVE_TEXT, lookedAtMax)) {
        last = String(row.key);
        lookedAt++;
        if (row.expires_at === null || Number(row.expires_at) > now) keys.push(last);
        if (keys.length === limit) return { keys, next: null };
      }
      return { keys, next: lookedAt === lookedAtMax ? last : null };
    },
  }),
  writes: (sql) => ({
    put(target: Target, entry: KvEntry, now: number, quota: number): { replaced: boolean } {
      const replaced = find(sql, target, now) !== undefined;
      save(sql, target, entry, { now, quota });
      return { replaced };
    },
    delete(target: Target, now: number): { deleted: boolean } {
      const { tenant, namespace, key } = target;
      const deleted = find(sql, target, now) !== undefined;
      sql.run`delete from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}`;
      return { deleted };
    },
    increment(target: Target, delta: number, now: number, quota: number): KvIncrement {
      const row = find(sql, target, now);
      const made = incremented(row?.value ?? null, delta, target.key);
      save(sql, target, { value: made.value, expiresAt: row?.expires_at ?? null }, { now, quota });
      return made;
    },
    compareAndSwap(target: Target, expected: Json, value: Json, facts: Facts): KvSwapped {
      const row = find(sql, target, facts.now);
      const answer = swapped(row?.value ?? null, expected);
      if (answer.swapped) save(sql, target, { value, expiresAt: row?.expires_at ?? null }, facts);
      return answer;
    },
    sweep: (now: number, limit: number): number => sql.run`
      delete from kv where id in
        (select id from kv where expires_at <= ${now} order by expires_at limit ${limit} + 0)
    `,
  }),
});

const find = (sql: Sql, { tenant, namespace, key }: Target, now: number) => sql.get<Row>`
  select value, expires_at from kv
  where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
    and (expires_at is null or expires_at > ${now})
`;

/** Writes an entry, and deletes expired ones if space is needed. Throws if the quota is exceeded, which rolls back. */
function save(sql: Sql, target: Target, { value, expiresAt }: KvEntry, { now, quota }: Facts): void {
  const { tenant, namespace, key } = target;
  const json = JSON.stringify(value);
  const bytes = entryBytes(target, json);
  const before = sql.number`
    select bytes from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
  `;
  sql.run`
    insert into kv (tenant, namespace, key, value, bytes, expires_at)
    values (${tenant}, ${namespace}, ${key}, ${json}, ${bytes}, ${expiresAt})
    on conflict do update set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
  `;
  if (bytes <= before) return;
  const excess = usedBytes(sql, 'kv', tenant) - quota;
  if (excess > 0 && !makeRoom(sql, tenant, excess, now))
    throw new Refusal('kv_quota_exhausted', { details: { quotaBytes: quota } });
}

/** Exported to test its query plan. */
export const FIND_EXPIRED = `select id, bytes from kv where tenant = ? and expires_at <= ? order by expires_at ${LIMIT}`;
const EXPIRED = `select coalesce(sum(bytes), 0) as bytes from (${FIND_EXPIRED})`;
const DROP_EXPIRED = `delete from kv where id in (select id from (${FIND_EXPIRED})) returning bytes`;
const EXPIRED_AT_ONCE = 500;

/** False if too little has expired. Checked first, since a refused write rolls back. Reads no more than needed. */
function makeRoom(sql: Sql, tenant: string, excess: number, now: number): boolean {
  const bytesOf = (text: string, limit: number): number =>
    sql.select<{ bytes: number }>(text, [tenant, now, limit]).reduce((sum, { bytes }) => sum + bytes, 0);
  if (bytesOf(EXPIRED, Math.ceil(excess / ENTRY_OVERHEAD_BYTES)) < excess) return false;
  for (let freed = 0; freed < excess; ) freed += bytesOf(DROP_EXPIRED, EXPIRED_AT_ONCE);
  return true;
}

export function embeddedKv(database: EmbeddedDatabase, options: { readonly quotaBytes: number }): KvPort {
  const { quotaBytes: quota } = options;
  const targetOf = (tenant: string, { namespace, key }: KvKey): Target => ({ tenant, namespace, key });
  return {
    get: (key, { tenant, now }) => database.read('kv', 'get', targetOf(tenant, key), now),
    list: (range, { tenant, now }) =>
      listStretches(range, (rest, lookedAtMax) =>
        database.read('kv', 'list', tenant, rest, lookedAtMax, now),
      ),
    put: ({ value, expiresAt, ...key }, call) =>
      database.write('kv', 'put', call, targetOf(call.tenant, key), { value, expiresAt }, call.now, quota),
    delete: (key, call) => database.write('kv', 'delete', call, targetOf(call.tenant, key), call.now),
    increment: ({ delta, ...key }, call) =>
      database.write('kv', 'increment', call, targetOf(call.tenant, key), delta, call.now, quota),
    compareAndSwap: ({ expected, value, ...key }, call) => {
      const facts = { now: call.now, quota };
      return database.write('kv', 'compareAndSwap', call, targetOf(call.tenant, key), expected, value, facts);
    },
  };
}
