/**
 * Processes that change the same records, and die: the sum is kept, records equal effects, nothing acknowledged is
 * missing. `npm run soak -- changes` does it in more rounds, and with more changes for the feed.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { CommitPipeline, type FeedRow, type Store } from '@gantry/store';
import { LOADERS } from '../../protocol/src/testing/loaders.ts';
import { administer } from '../../store/src/testing/postgres-server.ts';
import { systemCaller } from './caller.ts';
import { Changes } from './changes.ts';
import { backends } from './testing/backends.ts';
import { type ChildCommand, LANES, OPERATION, purses, TENANT } from './testing/changes-child.ts';

const CHILD = path.join(import.meta.dirname, 'testing/changes-child.ts');
const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 2);
const FEED_CHANGES = process.env.GANTRY_SOAK_ROUNDS ? 20_000 : 600;
const PURSES = 8;
const AMOUNT = 1_000;

function start(command: ChildCommand, location: string, argument: string) {
  const child: ChildProcess = spawn(process.execPath, [...LOADERS, CHILD, command, location, argument], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, lines: createInterface(child.stdout!), exited: once(child, 'exit') };
}

async function fill(store: Store, count: number): Promise<void> {
  const changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
  await changes.run(systemCaller('test', { tenant: TENANT }), async (change) => {
    for (let i = 0; i < count; i++) change.create(purses, { amount: AMOUNT, moves: 0 });
  });
}

/** Killed after so many acknowledged changes, or ended in order. Answers what it acknowledged. */
async function transfers(location: string, round: number, killAfter: number | null): Promise<string[]> {
  const { child, lines, exited } = start('transfer', location, String(round));
  const acknowledged: string[] = [];
  for await (const line of lines) {
    acknowledged.push(line);
    if (acknowledged.length === (killAfter ?? 50))
      killAfter === null ? child.stdin?.end() : child.kill('SIGKILL');
  }
  const [code] = await exited;
  assert.equal(code, killAfter === null ? 0 : null, 'it ended as it was told');
  return acknowledged;
}

/** The keys that are on record: each lane uses one after the other. */
async function recordedKeys(store: Store, rounds: number): Promise<Set<string>> {
  const keys = new Set<string>();
  for (let round = 0; round < rounds; round++)
    for (let lane = 0; lane < LANES; lane++)
      for (let n = 0; ; n++) {
        const key = `${round}/${lane}/${n}`;
        if (!(await store.records.idempotency(TENANT, OPERATION, key))) break;
        keys.add(key);
      }
  return keys;
}

for (const { name, skip, open, remove, location } of await backends()) {
  test(`transfers with kill -9 on ${name}`, { skip }, async (t) => {
    t.after(remove);
    const before = await open();
    await fill(before, PURSES);
    await before.close();
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // The last one ends in order: a commit of a killed process may land a little later
      const killAfter = round === ROUNDS - 1 ? null : 1 + Math.floor(Math.random() * 300);
      acknowledged.push(...(await transfers(location, round, killAfter)));
    }
    const store = await open();
    t.after(() => store.close());
    const entries = await store.entries.list(purses.kind, TENANT, { limit: PURSES });
    const records = entries.map(({ body }) => JSON.parse(body));
    const keys = await recordedKeys(store, ROUNDS);
    t.diagnostic(`${acknowledged.length} acknowledged, ${keys.size} recorded`);
    assert.equal(
      records.reduce((sum, { amount }) => sum + amount, 0),
      PURSES * AMOUNT,
    );
    assert.equal(
      records.reduce((sum, { moves }) => sum + moves, 0),
      keys.size,
      'records equal effects',
    );
    assert.deepEqual(
      acknowledged.filter((key) => !keys.has(key)),
      [],
      'acknowledged and missing',
    );
  });
}

/** Late at the commit, after the rows of the feed have their numbers. */
const SLOW_COMMITS = `
  create function slow() returns trigger language plpgsql as $$
    begin
      if random() < 0.05 then perform pg_sleep(random() * 0.05); end if;
      return null;
    end
  $$;
  create constraint trigger slow after update on entries
    deferrable initially deferred for each row execute function slow();
`;

test('a reader of the feed sees each change of two processes once, in order', async (t) => {
  const { skip, open, remove, location } = (await backends()).find(({ name }) => name === 'postgres')!;
  if (skip) return t.skip(skip);
  const store = await open();
  t.after(async () => {
    await store.close();
    await remove();
  });
  await fill(store, 40);
  await administer(location, SLOW_COMMITS);
  let cursor = await store.feed.last();
  const rows: FeedRow[] = [];
  const read = async (): Promise<boolean> => {
    const page = await store.feed.after(cursor, { tenant: TENANT, now: Date.now(), limit: 500 });
    assert.ok(page, 'nothing has expired');
    rows.push(...page.rows);
    cursor = page.next;
    return page.rows.length > 0;
  };
  let running = 2;
  const writers = [1, 2].map(async () => {
    const [code] = await start('move', location, String(FEED_CHANGES / 2)).exited;
    running--;
    assert.equal(code, 0);
  });
  while (running > 0) await read();
  await Promise.all(writers);
  while (await read());
  assert.equal(rows.length, FEED_CHANGES);
  for (const [id, own] of Map.groupBy(rows, (row) => row.id))
    assert.deepEqual(
      own.map(({ version }) => version),
      own.map((_, i) => i + 2),
      `versions of ${id}`,
    );
  assert.ok(rows.every(({ number }, i) => i === 0 || number > rows[i - 1]!.number));
});
