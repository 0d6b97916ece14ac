import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '@gantry/protocol';
import { ENTRY_OVERHEAD_BYTES, entryBytes, incremented, swapped } from '../capabilities/kv/entry-bytes.ts';
import { boundsOf, type KeyBounds, listStretches, type Stretch } from '../capabilities/kv/key-range.ts';
import type { KvEntry, KvIncrement, KvKey, KvPort, KvRange, KvSwapped } from '../ports/kv.ts';
import { Refusal } from '../refusal.ts';
import type { EmbeddedDatabase } from './database.ts';
import { defineArea, LIMIT } from './statements.ts';

interface Row {
  readonly value: string;
  readonly expires_at: number | null;
}

interface Target extends KvKey {
  readonly tenant: string;
}

const FIND = `
  select value, expires_at from kv
  where tenant = ? and namespace = ? and key = ? and (expires_at is null or expires_at > ?)
`;
/** Exported for its plan. */
export const listFrom = (operator: KeyBounds['operator']): string => `
  select key, expires_at from kv
  where tenant = ? and namespace = ? and key ${operator} ? and key < ? order by key ${LIMIT}
`;
/** In the order of SQLite every text is below it, so a range without an end needs no statement of its own. */
const ABOVE_TEXT = new Uint8Array(0);
const SAVE = `
  insert into kv (tenant, namespace, key, value, bytes, expires_at) values (?, ?, ?, ?, ?, ?)
  on conflict do update set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
`;

export const kvArea = defineArea({
  reads: (database) => {
    const find = database.prepare(FIND);
    return {
      get: ({ tenant, namespace, key }: Target, now: number): KvEntry | null =>
        entryOf(find.get(tenant, namespace, key, now)),
      list: listing(database),
    };
  },
  writes: (database) => ({ ...entryWrites(database), ...upkeep(database) }),
});

function listing(database: DatabaseSync) {
  const lists = { '>': database.prepare(listFrom('>')), '>=': database.prepare(listFrom('>=')) };
  return (
    tenant: string,
    { namespace, limit, ...page }: KvRange,
    lookedAtMax: number,
    now: number,
  ): Stretch => {
    const { from, operator, end } = boundsOf(page);
    const keys: string[] = [];
    let [lookedAt, last] = [0, ''];
    for (const row of lists[operator].iterate(tenant, namespace, from, end ?? ABOVE_TEXT, lookedAtMax)) {
      last = String(row.key);
      lookedAt++;
      if (row.expires_at === null || Number(row.expires_at) > now) keys.push(last);
      if (keys.length === limit) return { keys, next: null };
    }
    return { keys, next: lookedAt === lookedAtMax ? last : null };
  };
}

const rowOf = (row: unknown): Row | null => (row as Row | undefined) ?? null;

const entryOf = (row: unknown): KvEntry | null => {
  const found = rowOf(row);
  return found && { value: JSON.parse(found.value), expiresAt: found.expires_at };
};

function entryWrites(database: DatabaseSync) {
  const find = database.prepare(FIND);
  const remove = database.prepare('delete from kv where tenant = ? and namespace = ? and key = ?');
  const save = saving(database);
  const current = ({ tenant, namespace, key }: Target, now: number): Row | null =>
    rowOf(find.get(tenant, namespace, key, now));
  return {
    put(target: Target, entry: KvEntry, now: number, quota: number): { replaced: boolean } {
      const replaced = current(target, now) !== null;
      save(target, JSON.stringify(entry.value), entry.expiresAt, { now, quota });
      return { replaced };
    },
    delete(target: Target, now: number): { deleted: boolean } {
      const deleted = current(target, now) !== null;
      remove.run(target.tenant, target.namespace, target.key);
      return { deleted };
    },
    increment(target: Target, delta: number, now: number, quota: number): KvIncrement {
      const row = current(target, now);
      const made = incremented(row?.value ?? null, delta, target.key);
      save(target, JSON.stringify(made.value), row?.expires_at ?? null, { now, quota });
      return made;
    },
    compareAndSwap(
      target: Target,
      expected: Json,
      value: Json,
      { now, quota }: { now: number; quota: number },
    ): KvSwapped {
      const row = current(target, now);
      const answer = swapped(row?.value ?? null, expected);
      if (answer.swapped) save(target, JSON.stringify(value), row?.expires_at ?? null, { now, quota });
      return answer;
    },
  };
}

/** Writes an entry unless the tenant has no room for it: what is thrown undoes it. What has expired makes room. */
function saving(database: DatabaseSync) {
  const save = database.prepare(SAVE);
  const stored = database.prepare('select bytes from kv where tenant = ? and namespace = ? and key = ?');
  const used = database.prepare(`select bytes from usage where area = 'kv' and tenant = ?`);
  const makeRoom = makingRoom(database);
  return (
    { tenant, namespace, key }: Target,
    value: string,
    expiresAt: number | null,
    { now, quota }: { now: number; quota: number },
  ): void => {
    const bytes = entryBytes({ namespace, key }, value);
    const grows = bytes > numberOf(stored.get(tenant, namespace, key));
    save.run(tenant, namespace, key, value, bytes, expiresAt);
    if (!grows) return;
    const excess = numberOf(used.get(tenant)) - quota;
    if (excess > 0 && !makeRoom(tenant, excess, now))
      throw new Refusal('kv_quota_exhausted', { details: { quotaBytes: quota } });
  };
}

const numberOf = (row: unknown): number => (row as { readonly bytes: number } | undefined)?.bytes ?? 0;

/** Exported for its plan. */
export const FIND_EXPIRED = `select id, bytes from kv where tenant = ? and expires_at <= ? order by expires_at ${LIMIT}`;
const EXPIRED_AT_ONCE = 500;

/** False if too little has expired. Checked first, since a refused write rolls back; reads no more than needed. */
function makingRoom(database: DatabaseSync): (tenant: string, excess: number, now: number) => boolean {
  const expired = database.prepare(`select coalesce(sum(bytes), 0) as bytes from (${FIND_EXPIRED})`);
  const dropExpired = database.prepare(
    `delete from kv where id in (select id from (${FIND_EXPIRED})) returning bytes`,
  );
  return (tenant, excess, now) => {
    if (numberOf(expired.get(tenant, now, Math.ceil(excess / ENTRY_OVERHEAD_BYTES))) < excess) return false;
    for (let freed = 0; freed < excess; )
      for (const row of dropExpired.all(tenant, now, EXPIRED_AT_ONCE)) freed += numberOf(row);
    return true;
  };
}

function upkeep(database: DatabaseSync) {
  const sweep = database.prepare(
    `delete from kv where id in (select id from kv where expires_at <= ? order by expires_at ${LIMIT})`,
  );
  return { sweep: (now: number, limit: number): number => Number(sweep.run(now, limit).changes) };
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
