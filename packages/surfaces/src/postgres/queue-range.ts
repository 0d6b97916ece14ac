/**
 * Messages of a topic from a number on. Rows are compared, and put in order, as a whole, which only one index can do. Asked
 * for a topic and an order by number, PostgreSQL may walk through all messages that came later, whoever's they are: [m]
 * 55 ms instead of 0.07 beside 400,000 messages of a busy topic. With the tenant first, it may take the index for what
 * has expired, and look through all of the tenant.
 */
import type { Sql, Tx } from './connection.ts';

export const byNumber = (sql: Sql | Tx) => sql`order by topic, tenant, seq`;

export const lastFirst = (sql: Sql | Tx) => sql`order by topic desc, tenant desc, seq desc`;

type Fragment = ReturnType<typeof byNumber>;

interface From {
  readonly tenant: string;
  readonly topic: string | Fragment;
  readonly from: number | Fragment;
}

export const fromNumber = (sql: Sql | Tx, { tenant, topic, from }: From) => sql`
  (topic, tenant, seq) >= (${topic}, ${tenant}, ${from})
    and (topic, tenant, seq) <= (${topic}, ${tenant}, 9223372036854775807)
`;
