/** What a page of an indexed value costs: its own documents, however many others have the value. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { QueryText } from '../capabilities/documents/query-sql.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { factsOf } from './database-files.ts';
import { byRarest, SQLITE } from './document-sql.ts';
import { openForWriting } from './open-file.ts';

function opened(t: TestContext): DatabaseSync {
  const folder = freshFolder();
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] }));
  t.after(() => {
    database.close();
    folder.remove();
  });
  return database;
}

const both: Filter = { kind: 'all', of: [isEqual(['same'], 1), isEqual(['rare'], 'r')] };

test('a page begins where the one before ended, and sorts nothing', (t) => {
  const database = opened(t);
  const text = new QueryText(SQLITE);
  const page = { filter: isEqual(['same'], 1), sort: [], after: [500] as const, limit: 50 };
  const sql = text.page({ collection: 1, indexes: ['same'] }, page);
  assert.deepEqual(
    database
      .prepare(`explain query plan ${sql}`)
      .all(...text.params)
      .map(({ detail }) => detail),
    [
      'SEARCH cells USING PRIMARY KEY (collection=? AND field=? AND value=? AND seq>?)',
      'SEARCH documents USING INTEGER PRIMARY KEY (rowid=?)',
    ],
  );
});

test('of several indexes the one is taken that leads to the fewest documents, in whatever order they were made', (t) => {
  const database = opened(t);
  const add = (field: string, value: string, many: number) =>
    database.exec(`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${many})
      insert into cells select 1, '${field}', '${value}', n from numbers
    `);
  add('same', '1', 3_000);
  add('rare', '"r"', 2);
  add('rare', '"common"', 2_000);
  const statements: string[] = [];
  const prepare = (sql: string) => {
    statements.push(sql);
    return database.prepare(sql);
  };
  const chosen = (indexes: string[], filter: Filter) =>
    byRarest(prepare, { collection: 1, indexes }, filter).indexes;
  assert.deepEqual(chosen(['same', 'rare'], both), ['rare']);
  assert.deepEqual(chosen(['rare', 'same'], both), ['rare']);
  const common: Filter = { kind: 'all', of: [isEqual(['same'], 1), isEqual(['rare'], 'common')] };
  assert.deepEqual(chosen(['same', 'rare'], common), ['same'], 'both are common: counting ends at a bound');
  assert.match(statements.at(-1)!, /limit 1000\b/);
  assert.equal(statements.length, 3);
  assert.deepEqual(chosen(['same', 'rare'], isEqual(['same'], 1)), ['same', 'rare']);
  const byId: Filter = { kind: 'all', of: [both, { kind: 'id', ids: ['d1'] }] };
  assert.deepEqual(chosen(['same', 'rare'], byId), ['same', 'rare']);
  assert.equal(statements.length, 3, 'nothing is counted where there is no choice');
});
