import type { Tx } from './connection.ts';

export interface Growth {
  readonly area: string;
  readonly tenant: string;
  /** Of the area: writers of different parts seldom wait for each other. */
  readonly part: number;
  /** In bytes; less than nothing when something went. */
  readonly grown: number;
}

const STRIPES = 16;

/** Answers the bytes that the tenant has now in the area. */
export async function countUsage(tx: Tx, { area, tenant, part, grown }: Growth): Promise<number> {
  await tx`
    insert into usage values (${area}, ${tenant}, ${part % STRIPES}, ${grown})
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes
  `;
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from usage where area = ${area} and tenant = ${tenant}
  `;
  return row!.bytes;
}
