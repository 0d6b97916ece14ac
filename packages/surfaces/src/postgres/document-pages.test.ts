/** What a page of an indexed value costs: its own documents, however many others have the value. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { QueryText, type Scope } from '../capabilities/documents/query-sql.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { byRarest, POSTGRES } from './document-sql.ts';

const ALL = 20_000;

interface Node {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
}

/** The most rows that any part of the plan read. */
const rowsOf = (node: Node): number =>
  Math.max(node['Actual Rows'] * node['Actual Loops'], ...(node.Plans ?? []).map(rowsOf));

describe('PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres;
  let scope: Scope;
  before(async () => {
    opened = await openTestPostgres();
    const collection = await opened.database.upkeep(async (tx) => {
      const [made] = await tx<{ id: number }[]>`
        insert into collections (tenant, space, name) values ('t', 's', 'c') returning id
      `;
      const { id } = made ?? assert.fail();
      await tx`
        insert into documents select ${id}, n, 'd' || n,
          jsonb_build_object('id', 'd' || n, 'same', 1, 'rare', 'r' || n, 'text', repeat('x', 300)), 400
        from generate_series(1, ${ALL}) as n
      `;
      await tx`
        insert into cells select collection, field, cell_of(doc, field), seq
        from documents, unnest('{same,rare}'::text[]) as field
      `;
      return id;
    });
    scope = { collection, indexes: ['same', 'rare'] };
  });
  after(() => opened.close());

  const rowsRead = (filter: Filter, from: number | null): Promise<number> =>
    opened.database.read(async (sql) => {
      const text = new QueryText(POSTGRES);
      const page = { filter, sort: [], after: from === null ? null : ([from] as const), limit: 50 };
      const query = text.page(await byRarest(sql, scope, filter), page);
      const [row] = await sql.unsafe<{ 'QUERY PLAN': readonly { Plan: Node }[] }[]>(
        `explain (analyze, format json) ${query}`,
        text.params,
      );
      return rowsOf(row!['QUERY PLAN'][0]!.Plan);
    });

  const pages = (when: string): void => {
    test(`a page reads its own documents: ${when}`, async () => {
      for (const from of [null, 100, 0.9 * ALL])
        assert.equal(await rowsRead(isEqual(['same'], 1), from), 50, String(from));
    });
    test(`of several indexes the one is taken that leads to the fewest documents: ${when}`, async () => {
      const both: Filter = { kind: 'all', of: [isEqual(['same'], 1), isEqual(['rare'], 'r77')] };
      assert.equal(await rowsRead(both, null), 1);
    });
  };
  pages('before the server knows how values are spread');
  describe('later', () => {
    before(() => opened.database.upkeep((tx) => tx`analyze`));
    pages('when it knows');
  });
});
