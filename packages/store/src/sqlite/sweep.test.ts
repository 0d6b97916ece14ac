import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as make from '../contract/fixtures.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

const RUNS = 30;
const EVENTS = 2_000;

test('a sweep of long runs ends after milliseconds, so that commits need not wait, and goes on at the next call', async (t) => {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  const ended = { status: 'completed', endedAt: 1 } as const;
  for (let run = 0; run < RUNS; run++)
    await make.win(store, make.create(`run-${run}`, { head: ended, events: make.events(0, EVENTS) }));
  const counts: number[] = [];
  do counts.push(await store.retention.deleteEnded(2, RUNS));
  while (counts.at(-1) !== 0);
  assert.ok(counts.length > 2, `${RUNS * EVENTS} events went in one transaction`);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    RUNS,
  );
});
