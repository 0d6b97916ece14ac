/** The cache port in PostgreSQL. */
import type { Json } from '@gantry/protocol';
import { bytesOf } from '../embedded/text.ts';
import type { CacheKey, CachePort } from '../ports/cache.ts';
import type { PostgresDatabase, Tx } from './connection.ts';

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
  /** When values were last read, by the id of their row. */
  readonly uses: ReadonlyMap<number, number>;
}

async function put(tx: Tx, { tenant, namespace, key }: Place, putting: Putting): Promise<null> {
  const { expiresAt, now, capacity, uses } = putting;
  const value = JSON.stringify(putting.value);
  const bytes = bytesOf(key) + bytesOf(value);
  if (uses.size > 0) await noteUses(tx, uses);
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

/** In the order of their ids, so that two processes that note the same ones do not block each other. */
async function noteUses(tx: Tx, uses: ReadonlyMap<number, number>): Promise<void> {
  const sorted = [...uses].toSorted(([left], [right]) => left - right);
  await tx`
    update cache set used_at = greatest(used_at, noted.at) from
      (select cache.id, at from cache join unnest(${sorted.map(([id]) => id)}::bigint[], ${sorted.map(([, at]) => at)}::bigint[])
        as given (id, at) using (id) order by id for update of cache) as noted
    where cache.id = noted.id
  `;
}

const OLDEST = 200;

/** What has expired leaves first, then what was used longest ago. */
async function makeRoom(tx: Tx, tenant: string, capacity: number, now: number): Promise<void> {
  const excess = async (): Promise<number> => {
    const [row] = await tx<{ bytes: number }[]>`
      select coalesce(sum(bytes), 0)::bigint as bytes from usage where area = 'cache' and tenant = ${tenant}
    `;
    return (row?.bytes ?? 0) - capacity;
  };
  let over = await excess();
  if (over <= 0) return;
  await tx`delete from cache where tenant = ${tenant} and expires_at <= ${now}`;
  for (over = await excess(); over > 0; over = await excess()) {
    await tx`
      delete from cache where id in
        (select id from
          (select id, sum(bytes) over (order by used_at, id rows unbounded preceding) - bytes as before from
            (select id, bytes, used_at from cache where tenant = ${tenant} order by used_at, id limit ${OLDEST}) as oldest)
          as summed where before < ${over})
    `;
  }
}

async function evict(
  tx: Tx,
  tenant: string,
  { namespace, key }: { readonly namespace: string; readonly key: string | null },
  now: number,
): Promise<{ evicted: number }> {
  const rows = await tx<{ expires_at: number }[]>`
    delete from cache
    where tenant = ${tenant} and namespace = ${namespace} and (${key}::text is null or key = ${key})
    returning expires_at
  `;
  return { evicted: rows.filter(({ expires_at }) => expires_at > now).length };
}

/** Reads do not write. When values were used is kept here, and goes along with the next put. */
const USES_MAX = 4_096;

export function postgresCache(
  database: PostgresDatabase,
  { capacityBytes: capacity }: { readonly capacityBytes: number },
): CachePort {
  let uses = new Map<number, number>();
  const note = (id: number, now: number): void => {
    uses.set(id, now);
    if (uses.size > USES_MAX) uses.delete(uses.keys().next().value!);
  };
  return {
    async get({ namespace, key }, { tenant, now }) {
      const [row] = await database.read(
        (sql) => sql<Row[]>`
          select id, value, stored_at, expires_at from cache
          where tenant = ${tenant} and namespace = ${namespace} and key = ${key} and expires_at > ${now}
        `,
      );
      if (!row) return null;
      note(row.id, now);
      return { value: JSON.parse(row.value), storedAt: row.stored_at, expiresAt: row.expires_at };
    },
    async put({ namespace, key, value, expiresAt }, call) {
      const putting = { value, expiresAt, now: call.now, capacity, uses };
      uses = new Map();
      await database.write(call, (tx) => put(tx, { tenant: call.tenant, namespace, key }, putting));
    },
    evict: (which, call) => database.write(call, (tx) => evict(tx, call.tenant, which, call.now)),
  };
}
