/** The kv port in PostgreSQL. */
import type { Json } from '@gantry/protocol';
import { sameJson } from '../embedded/same-json.ts';
import { bytesOf, prefixEnd } from '../embedded/text.ts';
import { Refusal } from '../embedded/wire.ts';
import { ENTRY_OVERHEAD_BYTES, entryBytes } from '../kv/entry-bytes.ts';
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
import { isNarrow, takeTurn, usedBytes } from './usage.ts';

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

interface Held {
  /** What was stored there before, expired or not. */
  readonly before: Row | undefined;
  /** By the tenant, as far as others have committed. */
  readonly used: number;
}

/** What is there now; nobody else changes it before this transaction ends, not even from nothing. */
async function hold(tx: Tx, place: Place): Promise<Held> {
  const { tenant, namespace, key } = place;
  const [, [before], used] = await Promise.all([
    takeTurn(tx, 'kv', tenant, namespace, key),
    find(tx, place),
    usedBytes(tx, 'kv', tenant),
  ]);
  return { before, used };
}

interface Saving extends Held {
  readonly value: Json;
  readonly expiresAt: number | null;
  readonly now: number;
  readonly quota: number;
}

/** Writes an entry unless the tenant has no room for it: what is thrown undoes it. What has expired makes room. */
async function save(tx: Tx, { tenant, namespace, key }: Place, saving: Saving): Promise<void> {
  const { before, used, expiresAt, now, quota } = saving;
  const value = JSON.stringify(saving.value);
  const bytes = entryBytes({ namespace, key }, value);
  const mayNotFit = bytes > (before?.bytes ?? 0) && isNarrow(used, quota);
  if (mayNotFit) await takeTurn(tx, 'kv', tenant);
  await tx`
    insert into kv (tenant, namespace, key, value, bytes, expires_at)
    values (${tenant}, ${namespace}, ${key}, ${value}, ${bytes}, ${expiresAt})
    on conflict (tenant, namespace, key) do update
    set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
  `;
  if (!mayNotFit) return;
  const excess = (await usedBytes(tx, 'kv', tenant)) - quota;
  if (excess > 0 && !(await makeRoom(tx, tenant, excess, now)))
    throw new Refusal('kv_quota_exhausted', { details: { quotaBytes: quota } });
}

const EXPIRED_AT_ONCE = 500;

/**
 * Answers whether it could. Nothing is deleted in vain, since a refusal would undo it and the next one find it again;
 * and no more is read than could be needed, since every entry counts with its overhead.
 */
async function makeRoom(tx: Tx, tenant: string, excess: number, now: number): Promise<boolean> {
  const [expired] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from
      (select bytes from kv where tenant = ${tenant} and expires_at <= ${now}
        order by expires_at limit ${Math.ceil(excess / ENTRY_OVERHEAD_BYTES)}) as expired
  `;
  if (expired!.bytes < excess) return false;
  for (let freed = 0; freed < excess; ) {
    const dropped = await dropExpired(tx, tenant, now);
    if (dropped.length === 0) return false;
    for (const { bytes } of dropped) freed += bytes;
  }
  return true;
}

/** Others that delete or write one of them hold it: those are left to them. */
const dropExpired = (tx: Tx, tenant: string, now: number) => tx<{ bytes: number }[]>`
  delete from kv where (tenant, namespace, key) in
    (select tenant, namespace, key from kv where tenant = ${tenant} and expires_at <= ${now}
      order by expires_at limit ${EXPIRED_AT_ONCE} for update skip locked)
  returning bytes
`;

type Facts = Pick<Saving, 'now' | 'quota'>;

async function put(tx: Tx, place: Place, entry: KvEntry, facts: Facts): Promise<{ replaced: boolean }> {
  const held = await hold(tx, place);
  await save(tx, place, { ...entry, ...held, ...facts });
  return { replaced: isThere(held.before, facts.now) };
}

async function increment(tx: Tx, place: Place, delta: number, facts: Facts): Promise<KvIncrement> {
  const held = await hold(tx, place);
  const there = isThere(held.before, facts.now) ? held.before : null;
  const previous: unknown = there ? JSON.parse(there.value) : 0;
  if (typeof previous !== 'number')
    throw new Refusal('validation_error', { message: `The key "${place.key}" holds no number to add to.` });
  const value = previous + delta;
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new Refusal('validation_error', {
      message: `The number at "${place.key}" would become too large to be exact.`,
    });
  await save(tx, place, { value, expiresAt: there?.expires_at ?? null, ...held, ...facts });
  return { value, previous };
}

async function swap(
  tx: Tx,
  place: Place,
  { expected, value }: { readonly expected: Json; readonly value: Json },
  facts: Facts,
): Promise<KvSwapped> {
  const held = await hold(tx, place);
  const there = isThere(held.before, facts.now) ? held.before : null;
  const actual: Json = there ? JSON.parse(there.value) : null;
  if (!sameJson(actual, expected))
    return { swapped: false, ...(bytesOf(there?.value ?? '') <= KV_ACTUAL_BYTES_MAX && { actual }) };
  await save(tx, place, { value, expiresAt: there?.expires_at ?? null, ...held, ...facts });
  return { swapped: true };
}

async function remove(tx: Tx, place: Place, now: number): Promise<{ deleted: boolean }> {
  const { before } = await hold(tx, place);
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
