import type { Json } from '@gantry/protocol';
import { incremented, swapped } from '../capabilities/kv/entry-bytes.ts';
import { boundsOf, type KeyBounds, listStretches, type Stretch } from '../capabilities/kv/key-range.ts';
import type { KvEntry, KvIncrement, KvKey, KvPort, KvRange, KvSwap, KvSwapped } from '../ports/kv.ts';
import { bytesOf } from '../text.ts';
import type { PostgresDatabase, Sql } from './connection.ts';
import { runText } from './document-sql.ts';
import { type Entries, isThere, kvArea, type Stored } from './kv-entries.ts';

const find = (sql: Sql, tenant: string, { namespace, key }: KvKey) => sql<(Stored & { value: string })[]>`
  select value, bytes, expires_at from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
`;

/** Reads up to the last key of the page, or the last that may be looked at. Exported for its plan. */
export const listText = ({ operator, end }: KeyBounds): string => `
  select key, position, expires_at from
    (select key, expires_at, row_number() over (order by key) as position from
      (select key, expires_at from kv
        where tenant = $1::text and namespace = $2::text and key ${operator} $3::text
          ${end === null ? '' : 'and key < $7::text'}
        order by key limit $4::bigint) as looked) as numbered
  where expires_at is null or expires_at > $5::bigint or position = $4::bigint
  order by key limit $6::bigint
`;

async function list(
  sql: Sql,
  tenant: string,
  { namespace, limit, ...page }: KvRange,
  { lookedAtMax, now }: { readonly lookedAtMax: number; readonly now: number },
): Promise<Stretch> {
  const bounds = boundsOf(page);
  const ends = bounds.end === null ? [] : [bounds.end];
  const params = [tenant, namespace, bounds.from, lookedAtMax, now, limit, ...ends];
  const rows = await runText<Listed>(sql, { text: listText(bounds), params });
  const keys = rows.filter((row) => isThere(row, now)).map(({ key }) => key);
  const last = rows.at(-1);
  const isCut = keys.length < limit && last?.position === lookedAtMax;
  return { keys, next: isCut ? last.key : null };
}

interface Listed extends Pick<Stored, 'expires_at'> {
  readonly key: string;
  readonly position: number;
}

interface Facts {
  readonly now: number;
  readonly reads: boolean;
  /** Of what is to be stored. */
  readonly value: Json;
}

const actAt = <T>(target: KvKey, { now, reads, value }: Facts, decide: (entries: Entries) => T) => ({
  target,
  now,
  reads,
  decide,
  bytes: bytesOf(JSON.stringify(value)),
});

/** The entry as it is now, and when it expires. */
function readAt(entries: Entries, target: KvKey, now: number) {
  const found = entries.find(target);
  const there = isThere(found, now) ? found : null;
  return { json: there?.value ?? null, expiresAt: there?.expires_at ?? null };
}

const put = (target: KvKey, entry: KvEntry, now: number) =>
  actAt(target, { now, reads: false, value: entry.value }, (entries) => {
    const before = entries.find(target);
    entries.save(target, entry);
    return { replaced: isThere(before, now) };
  });

const remove = (target: KvKey, now: number) =>
  actAt(target, { now, reads: false, value: null }, (entries) => {
    const before = entries.find(target);
    if (before) entries.delete(target);
    return { deleted: isThere(before, now) };
  });

const increment = (target: KvKey, delta: number, now: number) =>
  actAt(target, { now, reads: true, value: delta }, (entries): KvIncrement => {
    const { json, expiresAt } = readAt(entries, target, now);
    const made = incremented(json, delta, target.key);
    entries.save(target, { value: made.value, expiresAt });
    return made;
  });

const swap = (target: KvKey, { expected, value }: KvSwap, now: number) =>
  actAt(target, { now, reads: true, value }, (entries): KvSwapped => {
    const { json, expiresAt } = readAt(entries, target, now);
    const answer = swapped(json, expected);
    if (answer.swapped) entries.save(target, { value, expiresAt });
    return answer;
  });

export function postgresKv(
  database: PostgresDatabase,
  { quotaBytes }: { readonly quotaBytes: number },
): KvPort {
  const write = database.together(kvArea(quotaBytes));
  const targetOf = ({ namespace, key }: KvKey): KvKey => ({ namespace, key });
  return {
    async get(key, { tenant, now }) {
      const [row] = await database.read((sql) => find(sql, tenant, key));
      return isThere(row, now) ? { value: JSON.parse(row.value), expiresAt: row.expires_at } : null;
    },
    list: (range, { tenant, now }) =>
      listStretches(range, (rest, lookedAtMax) =>
        database.read((sql) => list(sql, tenant, rest, { lookedAtMax, now })),
      ),
    put: ({ value, expiresAt, ...key }, call) =>
      write(call, put(targetOf(key), { value, expiresAt }, call.now)),
    delete: (key, call) => write(call, remove(targetOf(key), call.now)),
    increment: ({ delta, ...key }, call) => write(call, increment(targetOf(key), delta, call.now)),
    compareAndSwap: ({ expected, value, ...key }, call) =>
      write(call, swap(targetOf(key), { expected, value }, call.now)),
  };
}
