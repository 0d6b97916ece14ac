/** The kv port in PostgreSQL. */
import type { Json } from '@gantry/protocol';
import { sameJson } from '../embedded/same-json.ts';
import { bytesOf, prefixEnd } from '../embedded/text.ts';
import { Refusal } from '../embedded/wire.ts';
import {
  KV_ACTUAL_BYTES_MAX,
  type KvEntry,
  type KvIncrement,
  type KvKey,
  type KvPort,
  type KvRange,
  type KvSwapped,
} from '../ports/kv.ts';
import type { PostgresDatabase, Sql, Tx } from './connection.ts';

interface Row {
  readonly value: string;
  readonly bytes: number;
  readonly expires_at: number | null;
}

interface Place extends KvKey {
  readonly tenant: string;
}

const find = (sql: Sql | Tx, { tenant, namespace, key }: Place) => sql<Row[]>`
  select value, bytes, expires_at from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
`;

const isThere = (row: Row | undefined, now: number): row is Row =>
  row !== undefined && (row.expires_at === null || row.expires_at > now);

const list = (sql: Sql, tenant: string, { namespace, prefix, after, limit }: KvRange, now: number) => {
  const end = prefixEnd(prefix);
  return sql<{ key: string }[]>`
    select key from kv
    where tenant = ${tenant} and namespace = ${namespace} and key >= ${prefix} and key > ${after ?? ''}
      and (${end}::text is null or key < ${end}::text collate "C") and (expires_at is null or expires_at > ${now})
    order by key limit ${limit}
  `;
};

/** What is there now; nobody else changes it before this transaction ends, not even from nothing. */
async function hold(tx: Tx, place: Place): Promise<Row | undefined> {
  const { tenant, namespace, key } = place;
  const name = JSON.stringify(['kv', tenant, namespace, key]);
  const [, [row]] = await Promise.all([
    tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
    find(tx, place),
  ]);
  return row;
}

interface Saving {
  readonly value: Json;
  readonly expiresAt: number | null;
  /** What was stored there before, expired or not. */
  readonly before: Row | undefined;
  readonly now: number;
  readonly quota: number;
}

/** Writes an entry unless the tenant has no room for it; what has expired makes room first. */
async function save(tx: Tx, { tenant, namespace, key }: Place, saving: Saving): Promise<void> {
  const { before, expiresAt, now, quota } = saving;
  const value = JSON.stringify(saving.value);
  const bytes = bytesOf(key) + bytesOf(value);
  await tx`
    insert into kv (tenant, namespace, key, value, bytes, expires_at)
    values (${tenant}, ${namespace}, ${key}, ${value}, ${bytes}, ${expiresAt})
    on conflict (tenant, namespace, key) do update
    set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
  `;
  const fits = async () => bytes <= (before?.bytes ?? 0) || (await usedBytes(tx, tenant)) <= quota;
  if (await fits()) return;
  await tx`delete from kv where tenant = ${tenant} and expires_at <= ${now}`;
  if (!(await fits())) throw new Refusal('kv_quota_exhausted', { details: { quotaBytes: quota } });
}

async function usedBytes(tx: Tx, tenant: string): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from usage where area = 'kv' and tenant = ${tenant}
  `;
  return row?.bytes ?? 0;
}

type Facts = Pick<Saving, 'now' | 'quota'>;

async function put(tx: Tx, place: Place, entry: KvEntry, facts: Facts): Promise<{ replaced: boolean }> {
  const before = await hold(tx, place);
  await save(tx, place, { ...entry, before, ...facts });
  return { replaced: isThere(before, facts.now) };
}

async function increment(tx: Tx, place: Place, delta: number, facts: Facts): Promise<KvIncrement> {
  const before = await hold(tx, place);
  const there = isThere(before, facts.now) ? before : null;
  const previous: unknown = there ? JSON.parse(there.value) : 0;
  if (typeof previous !== 'number')
    throw new Refusal('validation_error', { message: `The key "${place.key}" holds no number to add to.` });
  const value = previous + delta;
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new Refusal('validation_error', {
      message: `The number at "${place.key}" would become too large to be exact.`,
    });
  await save(tx, place, { value, expiresAt: there?.expires_at ?? null, before, ...facts });
  return { value, previous };
}

async function swap(
  tx: Tx,
  place: Place,
  { expected, value }: { readonly expected: Json; readonly value: Json },
  facts: Facts,
): Promise<KvSwapped> {
  const before = await hold(tx, place);
  const there = isThere(before, facts.now) ? before : null;
  const actual: Json = there ? JSON.parse(there.value) : null;
  if (!sameJson(actual, expected))
    return { swapped: false, ...((there?.bytes ?? 0) <= KV_ACTUAL_BYTES_MAX && { actual }) };
  await save(tx, place, { value, expiresAt: there?.expires_at ?? null, before, ...facts });
  return { swapped: true };
}

async function remove(tx: Tx, place: Place, now: number): Promise<{ deleted: boolean }> {
  const before = await hold(tx, place);
  const { tenant, namespace, key } = place;
  if (before) await tx`delete from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}`;
  return { deleted: isThere(before, now) };
}

export function postgresKv(
  database: PostgresDatabase,
  { quotaBytes: quota }: { readonly quotaBytes: number },
): KvPort {
  const placeOf = (tenant: string, { namespace, key }: KvKey): Place => ({ tenant, namespace, key });
  return {
    async get(key, { tenant, now }) {
      const [row] = await database.read((sql) => find(sql, placeOf(tenant, key)));
      return isThere(row, now) ? { value: JSON.parse(row.value), expiresAt: row.expires_at } : null;
    },
    async list(range, { tenant, now }) {
      const rows = await database.read((sql) => list(sql, tenant, range, now));
      return rows.map(({ key }) => key);
    },
    put: ({ value, expiresAt, ...key }, call) =>
      database.write(call, (tx) =>
        put(tx, placeOf(call.tenant, key), { value, expiresAt }, { now: call.now, quota }),
      ),
    delete: (key, call) => database.write(call, (tx) => remove(tx, placeOf(call.tenant, key), call.now)),
    increment: ({ delta, ...key }, call) =>
      database.write(call, (tx) => increment(tx, placeOf(call.tenant, key), delta, { now: call.now, quota })),
    compareAndSwap: ({ expected, value, ...key }, call) =>
      database.write(call, (tx) =>
        swap(tx, placeOf(call.tenant, key), { expected, value }, { now: call.now, quota }),
      ),
  };
}
