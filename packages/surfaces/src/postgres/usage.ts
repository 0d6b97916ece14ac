/**
 * The bytes that tenants use in each area.
 *
 * I1  A writer that grows a nearly full area holds a lock of its tenant and area until it commits.
 * I2  A writer that waits for this lock holds no row of `usage`. Areas of `together.ts` always lock.
 */
import type { Tx } from './connection.ts';

export interface Growth {
  readonly area: string;
  readonly tenant: string;
  /** A part of the area: writers that only shrink different parts rarely wait for each other. */
  readonly part: number;
  /** In bytes; negative when data was deleted. */
  readonly grown: number;
}

const STRIPES = 16;

/** Answers the bytes that the tenant now uses in the area. */
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

/** Writers of tenants with less free space take turns; more than this cannot be filled within one commit. */
const NARROW_BYTES = 33_554_432;

/** `used` was read without a lock: with enough space there is no need to wait for other writers. */
const isNarrow = (used: number, quota: number): boolean => used > quota - Math.max(NARROW_BYTES, quota / 10);

export async function takeTurnIfNarrow(tx: Tx, area: string, tenant: string, quota: number): Promise<void> {
  if (isNarrow(await usedBytes(tx, area, tenant), quota)) await takeTurn(tx, area, tenant);
}

/** See I1, I2. Serializes transactions with the same names until they end. */
export async function takeTurn(tx: Tx, ...names: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(names)}, 0))`;
}
