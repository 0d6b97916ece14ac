import type { Json } from '@gantry/protocol';
import type { PortWrite } from '../calls/surface-call.ts';
import { incremented, swapped } from '../capabilities/kv/entry-bytes.ts';
import { boundsOf, type KeyBounds, listStretches, type Stretch } from '../capabilities/kv/key-range.ts';
import type { KvKey, KvPort, KvRange } from '../ports/kv.ts';
import { bytesOf } from '../text.ts';
import type { PostgresDatabase, Sql } from './connection.ts';
import { runText } from './document-sql.ts';
import { type Entries, isThere, kvArea, type Stored } from './kv-entries.ts';

const find = (sql: Sql, tenant: string, { namespace, key }: KvKey) => sql<(Stored & { value: string })[]>`
  select value, bytes, expires_at from kv where tenant = ${tenant} and namespace = ${namespace} and key = ${key}
`;

/** Reads up to the last key of the page, or to the limit of rows read. Exported to test its query plan. */
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

/** The current entry, and when it expires. */
function readAt(entries: Entries, target: KvKey, now: number) {
  const found = entries.find(target);
  const there = isThere(found, now) ? found : null;
  return { json: there?.value ?? null, expiresAt: there?.expires_at ?? null };
}

export function postgresKv(
  database: PostgresDatabase,
  { quotaBytes }: { readonly quotaBytes: number },
): KvPort {
  const write = database.together(kvArea(quotaBytes));
  /** `value`: used to estimate the size. */
  const act = <T extends object>(
    call: PortWrite,
    { namespace, key }: KvKey,
    { reads, value }: { readonly reads: boolean; readonly value: Json },
    decide: (entries: Entries, target: KvKey) => T,
  ): Promise<T> => {
    const target = { namespace, key };
    const bytes = bytesOf(JSON.stringify(value));
    return write(call, { target, now: call.now, reads, bytes, decide: (entries) => decide(entries, target) });
  };
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
      act(call, key, { reads: false, value }, (entries, target) => {
        const before = entries.find(target);
        entries.save(target, { value, expiresAt });
        return { replaced: isThere(before, call.now) };
      }),
    delete: (key, call) =>
      act(call, key, { reads: false, value: null }, (entries, target) => {
        const before = entries.find(target);
        if (before) entries.delete(target);
        return { deleted: isThere(before, call.now) };
      }),
    increment: ({ delta, ...key }, call) =>
      act(call, key, { reads: true, value: delta }, (entries, target) => {
        const { json, expiresAt } = readAt(entries, target, call.now);
        const made = incremented(json, delta, target.key);
        entries.save(target, { value: made.value, expiresAt });
        return made;
      }),
    compareAndSwap: ({ expected, value, ...key }, call) =>
      act(call, key, { reads: true, value }, (entries, target) => {
        const { json, expiresAt } = readAt(entries, target, call.now);
        const answer = swapped(json, expected);
        if (answer.swapped) entries.save(target, { value, expiresAt });
        return answer;
      }),
  };
}
