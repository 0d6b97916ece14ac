/** The entries that a turn of the kv port has locked, and their changes. */
import type { Statement } from '@gantry/postgres';
import { ENTRY_OVERHEAD_BYTES, entryBytes } from '../capabilities/kv/entry-bytes.ts';
import type { KvEntry, KvKey } from '../ports/kv.ts';
import { Refusal } from '../refusal.ts';
import type { Tx } from './connection.ts';
import { type Act, Alone, type Area, column } from './together.ts';
import { usedBytes } from './usage.ts';

export interface KvAct extends Act<Entries> {
  readonly target: KvKey;
  readonly reads: boolean;
  readonly now: number;
}

export interface Stored {
  /** JSON; null if it was not read. */
  readonly value: string | null;
  readonly bytes: number;
  readonly expires_at: number | null;
}

interface Row extends Stored, KvKey {}

const nameOf = ({ namespace, key }: KvKey): string => JSON.stringify([namespace, key]);

export const isThere = <S extends Pick<Stored, 'expires_at'>>(row: S | undefined, now: number): row is S =>
  row !== undefined && (row.expires_at === null || row.expires_at > now);

interface Room {
  readonly quota: number;
  readonly used: number;
  /** Whether a write that may exceed the quota can be attempted. */
  readonly isAlone: boolean;
}

export class Entries {
  readonly #rows: Map<string, Row>;
  readonly #saved = new Map<string, Row>();
  readonly #deleted = new Map<string, KvKey>();
  readonly #room: Room;
  #used: number;
  #isTriedOut = false;

  constructor(rows: readonly Row[], room: Room) {
    this.#rows = new Map(rows.map((row) => [nameOf(row), row]));
    this.#room = room;
    this.#used = room.used;
  }

  find(target: KvKey): Stored | undefined {
    return this.#rows.get(nameOf(target));
  }

  save({ namespace, key }: KvKey, { value, expiresAt }: KvEntry): void {
    const name = nameOf({ namespace, key });
    const json = JSON.stringify(value);
    const bytes = entryBytes({ namespace, key }, json);
    const grown = bytes - (this.#rows.get(name)?.bytes ?? 0);
    if (grown > 0 && this.#used + grown > this.#room.quota) {
      if (!this.#room.isAlone) throw new Alone();
      this.#isTriedOut = true;
    }
    const row = { namespace, key, value: json, bytes, expires_at: expiresAt };
    this.#used += grown;
    this.#rows.set(name, row);
    this.#saved.set(name, row);
    this.#deleted.delete(name);
  }

  delete({ namespace, key }: KvKey): void {
    const name = nameOf({ namespace, key });
    this.#used -= this.#rows.get(name)?.bytes ?? 0;
    this.#rows.delete(name);
    this.#saved.delete(name);
    this.#deleted.set(name, { namespace, key });
  }

  get isTriedOut(): boolean {
    return this.#isTriedOut;
  }

  statements(tx: Tx, tenant: string): Statement[] {
    const [saved, deleted] = [[...this.#saved.values()], [...this.#deleted.values()]];
    return [
      ...(saved.length > 0 ? [upsert(tx, tenant, saved)] : []),
      ...(deleted.length > 0 ? [remove(tx, tenant, deleted)] : []),
    ];
  }
}

const upsert = (tx: Tx, tenant: string, rows: readonly Row[]): Statement => tx`
  insert into kv (tenant, namespace, key, value, bytes, expires_at)
  select ${tenant}, * from unnest(${column(rows, 'namespace')}::text[], ${column(rows, 'key')}::text[],
    ${column(rows, 'value')}::text[], ${column(rows, 'bytes')}::bigint[], ${column(rows, 'expires_at')}::bigint[])
  on conflict (tenant, namespace, key) do update
  set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
`;

const remove = (tx: Tx, tenant: string, keys: readonly KvKey[]): Statement => tx`
  delete from kv using unnest(${column(keys, 'namespace')}::text[], ${column(keys, 'key')}::text[])
    as gone (namespace, key)
  where kv.tenant = ${tenant} and kv.namespace = gone.namespace and kv.key = gone.key
`;

/** Locks the rows, so that the sweep of expired entries, which takes no turns, skips them. */
const find = (tx: Tx, tenant: string, acts: readonly KvAct[]) => {
  const targets = new Map<string, KvKey & { readonly reads: number }>();
  for (const { target, reads } of acts) {
    const name = nameOf(target);
    targets.set(name, { ...target, reads: reads ? 1 : (targets.get(name)?.reads ?? 0) });
  }
  const wanted = [...targets.values()];
  return tx<Row[]>`
    select wanted.namespace, wanted.key, found.*
    from unnest(${column(wanted, 'namespace')}::text[], ${column(wanted, 'key')}::text[],
      ${column(wanted, 'reads')}::integer[]) as wanted (namespace, key, reads)
    cross join lateral (
      select case when wanted.reads = 1 then value end as value, bytes, expires_at from kv
      where tenant = ${tenant} and namespace = wanted.namespace and key = wanted.key for update
    ) as found
  `;
};

export const kvArea = (quota: number): Area<Entries, KvAct> => ({
  name: 'kv',
  async load(tx, tenant, acts) {
    const [rows, used] = await Promise.all([find(tx, tenant, acts), usedBytes(tx, 'kv', tenant)]);
    return new Entries(rows, { quota, used, isAlone: acts.length === 1 });
  },
  async write(tx, tenant, entries, [act]) {
    const statements = entries.statements(tx, tenant);
    if (!entries.isTriedOut || !act) return statements;
    await Promise.all(statements);
    const excess = (await usedBytes(tx, 'kv', tenant)) - quota;
    if (excess > 0 && !(await makeRoom(tx, tenant, excess, act.now)))
      throw new Refusal('kv_quota_exhausted', { details: { quotaBytes: quota } });
    return [];
  },
});

const EXPIRED_AT_ONCE = 500;

/** False if too little has expired. Checked first, since a refused write rolls back. Reads no more than needed. */
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

/** Skips rows that another transaction has locked. */
const dropExpired = (tx: Tx, tenant: string, now: number) => tx<{ bytes: number }[]>`
  delete from kv where (tenant, namespace, key) in
    (select tenant, namespace, key from kv where tenant = ${tenant} and expires_at <= ${now}
      order by expires_at limit ${EXPIRED_AT_ONCE} for update skip locked)
  returning bytes
`;
