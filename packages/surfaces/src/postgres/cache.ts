/**
 * The cache port in PostgreSQL.
 *
 * I1  Writers of one tenant take turns: none evicts what another is noting as used. Only the sweeper of expired values
 *     does not; what it holds is left to it.
 */
import type { Json } from '@gantry/protocol';
import { entryBytes } from '../kv/entry-bytes.ts';
import type { CacheKey, CachePort } from '../ports/cache.ts';
import type { PostgresDatabase, Tx } from './connection.ts';
import { takeTurn, usedBytes } from './usage.ts';

interface Row {
  readonly id: number;
  readonly value: string;
  readonly stored_at: number;
  readonly expires_at: number;
}

interface Place extends CacheKey {
  readonly tenant: string;
}

interface Putting {
  readonly value: Json;
  readonly expiresAt: number;
  readonly now: number;
  readonly capacity: number;
  /** When values of this tenant were last read. */
  readonly uses: readonly Use[];
}

interface Use {
  readonly id: number;
  readonly at: number;
}

async function put(tx: Tx, { tenant, namespace, key }: Place, putting: Putting): Promise<null> {
  const { expiresAt, now, capacity, uses } = putting;
  const value = JSON.stringify(putting.value);
  const bytes = entryBytes({ namespace, key }, value);
  await takeTurn(tx, 'cache', tenant);
  if (uses.length > 0) await noteUses(tx, uses);
  await tx`
    insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
    values (${tenant}, ${namespace}, ${key}, ${value}, ${bytes}, ${now}, ${now}, ${expiresAt})
    on conflict (tenant, namespace, key) do update
    set value = excluded.value, bytes = excluded.bytes, stored_at = excluded.stored_at, used_at = excluded.used_at,
      expires_at = excluded.expires_at
  `;
  await makeRoom(tx, tenant, capacity, now);
  return null;
}

async function noteUses(tx: Tx, uses: readonly Use[]): Promise<void> {
  await tx`
    update cache set used_at = greatest(used_at, noted.at) from
      unnest(${uses.map(({ id }) => id)}::bigint[], ${uses.map(({ at }) => at)}::bigint[]) as noted (id, at)
    where cache.id = noted.id
  `;
}

/** What has expired leaves first, then what was used longest ago. */
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

/** As many as free so many bytes, of those looked at. */
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

async function evict(
  tx: Tx,
  tenant: string,
  { namespace, key }: { readonly namespace: string; readonly key: string | null },
  now: number,
): Promise<{ evicted: number }> {
  await takeTurn(tx, 'cache', tenant);
  const rows = await tx<{ expires_at: number }[]>`
    delete from cache
    where tenant = ${tenant} and namespace = ${namespace} and (${key}::text is null or key = ${key})
    returning expires_at
  `;
  return { evicted: rows.filter(({ expires_at }) => expires_at > now).length };
}

/** Reads do not write. When values were used is kept here, and goes along with the next put of their tenant. */
const USES_MAX = 4_096;

class Uses {
  readonly #noted = new Map<number, { readonly tenant: string; readonly at: number }>();

  note(id: number, tenant: string, at: number): void {
    this.#noted.set(id, { tenant, at });
    if (this.#noted.size > USES_MAX) this.#noted.delete(this.#noted.keys().next().value!);
  }

  /** Of one tenant, which are then forgotten. */
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
    async put({ namespace, key, value, expiresAt }, call) {
      const putting = { value, expiresAt, now: call.now, capacity, uses: uses.take(call.tenant) };
      await database.write(call, (tx) => put(tx, { tenant: call.tenant, namespace, key }, putting));
    },
    evict: (which, call) => database.write(call, (tx) => evict(tx, call.tenant, which, call.now)),
  };
}
