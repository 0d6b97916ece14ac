/**
 * The bytes that tenants have in each area.
 *
 * I1  A writer that grows a nearly full area takes turns with the others of its tenant until it commits.
 * I2  A writer that waits for its turn holds no row of `usage`. Areas of `together.ts` always take turns.
 */
import type { Tx } from './connection.ts';

export interface Growth {
  readonly area: string;
  readonly tenant: string;
  /** Of the area: writers that only shrink different parts seldom wait for each other. */
  readonly part: number;
  /** In bytes; less than nothing when something went. */
  readonly grown: number;
}

const STRIPES = 16;

/** Answers the bytes that the tenant has now in the area. */
export async function countUsage(tx: Tx, { area, tenant, part, grown }: Growth): Promise<number> {
  if (grown > 0) await takeTurn(tx, area, tenant);
  await tx`
    insert into usage values (${area}, ${tenant}, ${part % STRIPES}, ${grown})
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes
  `;
  return usedBytes(tx, area, tenant);
}

export async function usedBytes(tx: Tx, area: string, tenant: string): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from usage where area = ${area} and tenant = ${tenant}
  `;
  return row!.bytes;
}

/** Tenants with less room than this take turns; those with more cannot fill it within a commit. */
const NARROW_BYTES = 33_554_432;

/** `used` was read without a turn: with plenty of space there is no need to wait for other writers. */
const isNarrow = (used: number, quota: number): boolean => used > quota - Math.max(NARROW_BYTES, quota / 10);

export async function takeTurnIfNarrow(tx: Tx, area: string, tenant: string, quota: number): Promise<void> {
  if (isNarrow(await usedBytes(tx, area, tenant), quota)) await takeTurn(tx, area, tenant);
}

/** I1, I2. Until the transaction ends; of one tenant, in what the other names say. */
export async function takeTurn(tx: Tx, ...names: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(names)}, 0))`;
}
