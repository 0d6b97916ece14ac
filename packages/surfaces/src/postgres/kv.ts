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
  select key, place, expires_at from
    (select key, expires_at, row_number() over (order by key) as place from
      (select key, expires_at from kv
        where tenant = $1::text and namespace = $2::text and key ${operator} $3::text
          ${end === null ? '' : 'and key < $7::text'}
        order by key limit $4::bigint) as looked) as numbered
  where expires_at is null or expires_at > $5::bigint or place = $4::bigint
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
  const isCut = keys.length < limit && last?.place === lookedAtMax;
  return { keys, next: isCut ? last.key : null };
}

interface Listed extends Pick<Stored, 'expires_at'> {
  readonly key: string;
  readonly place: number;
}

interface Facts {
  readonly now: number;
  readonly reads: boolean;
  /** Of what is to be stored. */
  readonly value: Json;
}

const actAt = <T>(place: KvKey, { now, reads, value }: Facts, decide: (entries: Entries) => T) => ({
  place,
  now,
  reads,
  decide,
  bytes: bytesOf(JSON.stringify(value)),
});

/** The entry as it is now, and when it expires. */
function readAt(entries: Entries, place: KvKey, now: number) {
  const found = entries.find(place);
  const there = isThere(found, now) ? found : null;
  return { json: there?.value ?? null, expiresAt: there?.expires_at ?? null };
}

const put = (place: KvKey, entry: KvEntry, now: number) =>
  actAt(place, { now, reads: false, value: entry.value }, (entries) => {
    const before = entries.find(place);
    entries.save(place, entry);
    return { replaced: isThere(before, now) };
  });

const remove = (place: KvKey, now: number) =>
  actAt(place, { now, reads: false, value: null }, (entries) => {
    const before = entries.find(place);
    if (before) entries.delete(place);
    return { deleted: isThere(before, now) };
  });

const increment = (place: KvKey, delta: number, now: number) =>
  actAt(place, { now, reads: true, value: delta }, (entries): KvIncrement => {
    const { json, expiresAt } = readAt(entries, place, now);
    const made = incremented(json, delta, place.key);
    entries.save(place, { value: made.value, expiresAt });
    return made;
  });

const swap = (place: KvKey, { expected, value }: KvSwap, now: number) =>
  actAt(place, { now, reads: true, value }, (entries): KvSwapped => {
    const { json, expiresAt } = readAt(entries, place, now);
    const answer = swapped(json, expected);
    if (answer.swapped) entries.save(place, { value, expiresAt });
    return answer;
  });

export function postgresKv(
  database: PostgresDatabase,
  { quotaBytes }: { readonly quotaBytes: number },
): KvPort {
  const write = database.together(kvArea(quotaBytes));
  const placeOf = ({ namespace, key }: KvKey): KvKey => ({ namespace, key });
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
      write(call, put(placeOf(key), { value, expiresAt }, call.now)),
    delete: (key, call) => write(call, remove(placeOf(key), call.now)),
    increment: ({ delta, ...key }, call) => write(call, increment(placeOf(key), delta, call.now)),
    compareAndSwap: ({ expected, value, ...key }, call) =>
      write(call, swap(placeOf(key), { expected, value }, call.now)),
  };
}
