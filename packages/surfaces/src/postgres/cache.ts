/**
 * The cache port in PostgreSQL.
 *
 * I1  Writers of one tenant are serialized: none evicts an entry that another marks as used. The exceptions
 *     are mass deletions: the sweep of expired values, and all but the last step of evicting a large namespace.
 */
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import { entryBytes } from '../capabilities/kv/entry-bytes.ts';
import type { CacheKey, CachePort } from '../ports/cache.ts';
import type { PostgresDatabase, Sql, Tx } from './connection.ts';
import { type Act, Alone, type Area, column } from './together.ts';
import { usedBytes } from './usage.ts';

interface Row {
  readonly id: number;
  readonly value: string;
  readonly stored_at: number;
  readonly expires_at: number;
}

type PutRequest = Parameters<CachePort['put']>[0];

interface Put extends CacheKey {
  readonly value: string;
  readonly bytes: number;
  readonly storedAt: number;
  readonly expiresAt: number;
}

interface Use {
  readonly id: number;
  readonly at: number;
}

/** The puts of a turn; the last one with a name wins. */
interface Puts {
  readonly byName: Map<string, Put>;
  readonly isAlone: boolean;
  readonly used: number;
}

interface CacheAct extends Act<Puts> {
  readonly tenant: string;
  readonly now: number;
}

const put = ({ namespace, key, value, expiresAt }: PutRequest, { tenant, now }: PortRead) => {
  const json = JSON.stringify(value);
  const bytes = entryBytes({ namespace, key }, json);
  const row = { namespace, key, value: json, bytes, storedAt: now, expiresAt };
  return {
    tenant,
    now,
    bytes,
    decide({ byName }: Puts): null {
      byName.set(JSON.stringify([namespace, key]), row);
      return null;
    },
  };
};

const cacheArea = (capacity: number, uses: Uses): Area<Puts, CacheAct> => ({
  name: 'cache',
  load: async (tx, tenant, acts) => ({
    byName: new Map(),
    isAlone: acts.length === 1,
    used: await usedBytes(tx, 'cache', tenant),
  }),
  async write(tx, tenant, { byName, used }, acts) {
    const puts = [...byName.values()];
    if (puts.length === 0) return [];
    const noted = uses.take(tenant);
    const statements = [...(noted.length > 0 ? [noteUses(tx, noted)] : []), upsert(tx, tenant, puts)];
    if (puts.reduce((sum, { bytes }) => sum + bytes, used) <= capacity) return statements;
    await Promise.all(statements);
    await makeRoom(tx, tenant, capacity, Math.max(...acts.map(({ now }) => now)));
    return [];
  },
});

const upsert = (tx: Tx, tenant: string, puts: readonly Put[]) => tx`
  insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
  select ${tenant}, namespace, key, value, bytes, stored_at, stored_at, expires_at
  from unnest(${column(puts, 'namespace')}::text[], ${column(puts, 'key')}::text[], ${column(puts, 'value')}::text[],
    ${column(puts, 'bytes')}::bigint[], ${column(puts, 'storedAt')}::bigint[], ${column(puts, 'expiresAt')}::bigint[])
    as put (namespace, key, value, bytes, stored_at, expires_at)
  on conflict (tenant, namespace, key) do update
  set value = excluded.value, bytes = excluded.bytes, stored_at = excluded.stored_at, used_at = excluded.used_at,
    expires_at = excluded.expires_at
`;

const noteUses = (tx: Tx, uses: readonly Use[]) => tx`
  update cache set used_at = greatest(used_at, noted.at)
  from unnest(${column(uses, 'id')}::bigint[], ${column(uses, 'at')}::bigint[]) as noted (id, at)
  where cache.id = noted.id
`;

/** Evicts expired values first, then the least recently used. */
async function makeRoom(tx: Tx, tenant: string, capacity: number, now: number): Promise<void> {
  const excess = async (): Promise<number> => (await usedBytes(tx, 'cache', tenant)) - capacity;
  let over = await excess();
  while (over > 0 && (await dropExpired(tx, tenant, now)) > 0) over = await excess();
  while (over > 0 && (await dropOldest(tx, tenant, over)) > 0) over = await excess();
}

const DROPPED_AT_ONCE = 500;

async function dropExpired(tx: Tx, tenant: string, now: number): Promise<number> {
  const { count } = await tx`
    delete from cache where id in
      (select id from cache where tenant = ${tenant} and expires_at <= ${now}
        order by expires_at limit ${DROPPED_AT_ONCE} for update skip locked)
  `;
  return count;
}

/** Deletes the least recently used values that free `bytes`, at most `DROPPED_AT_ONCE`. */
async function dropOldest(tx: Tx, tenant: string, bytes: number): Promise<number> {
  const { count } = await tx`
    delete from cache where id in
      (select id from
        (select id, sum(bytes) over (order by used_at, id rows unbounded preceding) - bytes as before from
          (select id, bytes, used_at from cache where tenant = ${tenant}
            order by used_at, id limit ${DROPPED_AT_ONCE} for update skip locked) as oldest)
        as summed where before < ${bytes})
  `;
  return count;
}

type Which = Parameters<CachePort['evict']>[0];

/** Does not see puts of other calls in the same turn, so it runs in its own turn. */
const evict = ({ namespace, key }: Which, { tenant, now }: PortRead, before: number) => ({
  tenant,
  now,
  bytes: 0,
  async decide({ isAlone }: Puts, tx: Tx): Promise<{ evicted: number }> {
    if (!isAlone) throw new Alone();
    const rows = await tx<{ expires_at: number }[]>`
      delete from cache
      where tenant = ${tenant} and namespace = ${namespace} and (${key}::text is null or key = ${key})
      returning expires_at
    `;
    return { evicted: before + living(rows, now) };
  },
});

const living = (rows: readonly Pick<Row, 'expires_at'>[], now: number): number =>
  rows.filter(({ expires_at }) => expires_at > now).length;

const EVICTED_AT_ONCE = 1_000;

/** Evicts most of a large namespace in several transactions, since a single one might time out. Answers the count. */
async function evictMost(
  database: PostgresDatabase,
  namespace: string,
  { tenant, now, invocation }: PortWrite,
): Promise<number> {
  if (!(await database.read((sql) => isLarge(sql, tenant, namespace, invocation.journalKey)))) return 0;
  for (let evicted = 0; ; ) {
    const rows = await database.upkeep((tx) => evictSome(tx, tenant, namespace));
    evicted += living(rows, now);
    if (rows.length < EVICTED_AT_ONCE) return evicted;
  }
}

/** False for a call that is already recorded: nothing is left to do. */
async function isLarge(sql: Sql, tenant: string, namespace: string, journalKey: string): Promise<boolean> {
  const [found] = await sql<{ many: number }[]>`
    select count(*) as many from
      (select 1 from cache where tenant = ${tenant} and namespace = ${namespace}
        and not exists (select 1 from invocations where tenant = ${tenant} and journal_key = ${journalKey})
        limit ${EVICTED_AT_ONCE + 1}) as looked
  `;
  return Number(found?.many) > EVICTED_AT_ONCE;
}

/** Takes no turn (I1), so locked rows are left to the last step. */
const evictSome = (tx: Tx, tenant: string, namespace: string) => tx<Pick<Row, 'expires_at'>[]>`
  delete from cache where id in
    (select id from cache where tenant = ${tenant} and namespace = ${namespace}
      limit ${EVICTED_AT_ONCE} for update skip locked)
  returning expires_at
`;

/** Reads do not write: use times are kept here, and written with the next put of their tenant. */
const USES_MAX = 4_096;

class Uses {
  readonly #noted = new Map<number, { readonly tenant: string; readonly at: number }>();

  note(id: number, tenant: string, at: number): void {
    this.#noted.set(id, { tenant, at });
    if (this.#noted.size > USES_MAX) this.#noted.delete(this.#noted.keys().next().value!);
  }

  /** Removes and answers the uses of a tenant. */
  take(tenant: string): Use[] {
    const taken = [...this.#noted].filter(([, use]) => use.tenant === tenant);
    for (const [id] of taken) this.#noted.delete(id);
    return taken.map(([id, { at }]) => ({ id, at }));
  }
}

export function postgresCache(
  database: PostgresDatabase,
  { capacityBytes: capacity }: { readonly capacityBytes: number },
): CachePort {
  const uses = new Uses();
  const write = database.together(cacheArea(capacity, uses));
  return {
    async get({ namespace, key }, { tenant, now }) {
      const [row] = await database.read(
        (sql) => sql<Row[]>`
          select id, value, stored_at, expires_at from cache
          where tenant = ${tenant} and namespace = ${namespace} and key = ${key} and expires_at > ${now}
        `,
      );
      if (!row) return null;
      uses.note(row.id, tenant, now);
      return { value: JSON.parse(row.value), storedAt: row.stored_at, expiresAt: row.expires_at };
    },
    async put(entry, call) {
      await write(call, put(entry, call));
    },
    async evict(which, call) {
      const before = which.key === null ? await evictMost(database, which.namespace, call) : 0;
      return write(call, evict(which, call, before));
    },
  };
}
