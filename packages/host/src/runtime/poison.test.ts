/** What was in flight when a process ended uncleanly, in the lives after it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Execution, Outcome } from '@gantry/engine';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import type { NodeWork } from './outside-work.ts';
import { PoisonGuard } from './poison.ts';

const DONE: Outcome = { ok: true, outputs: {} };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function openStore(t: TestContext): Promise<Store> {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  return store;
}

/** Of two processes on one database; none where there is no server. */
async function openShared(t: TestContext): Promise<readonly Store[]> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return [];
  }
  const stores = [await openPostgres(database), await openPostgres(database)];
  t.after(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });
  return stores;
}

interface Begun {
  readonly end: (outcome: Outcome) => void;
  readonly work: NodeWork;
}

/** One process: it takes over all runs, and begins their nodes. */
function life(store: Store, runIds: readonly string[], endsMax = 3) {
  const guard = new PoisonGuard({ store, endsMax, now: () => 0 });
  guard.takenOver(runIds.map((runId) => ({ tenant: 'acme', runId })));
  const begun = new Map<string, Begun>();
  const executor = guard.around(
    ({ runId }, _invocation, _signal, work) =>
      new Promise((end) => {
        begun.set(runId, { end, work });
      }),
  );
  const execution = {
    nodeId: 'a',
    visit: 0,
    attempt: 0,
    typeId: 'x',
    ordinalBase: 0,
    inputs: {},
    config: {},
  };
  const ends = new Map(
    runIds.map((runId) => [
      runId,
      executor(
        { tenant: 'acme', runId },
        execution as Execution,
        new AbortController().signal,
        {} as NodeWork,
      ),
    ]),
  );
  for (const end of ends.values()) end.catch(() => {});
  const until = async (holds: () => boolean): Promise<void> => {
    for (let turns = 0; !holds(); turns++) {
      assert.ok(turns < 5_000_000, 'it never came to that');
      await settled();
    }
  };
  return { guard, begun, ends, until };
}

const codeOf = (outcome: Outcome | undefined): string =>
  outcome && 'ok' in outcome && !outcome.ok ? outcome.error.code : 'ok';

/** One life after the other, each on the store of its process. */
async function threeEnds(first: Store, other = first): Promise<void> {
  const runIds = ['a', 'b'];
  const second = life(first, runIds);
  await second.until(() => second.begun.size === 2);
  const third = life(other, runIds);
  await third.until(() => third.begun.size === 1);
  await settled();
  const [innocent, ...more] = third.begun.keys();
  assert.deepEqual(more, []);
  const guilty = innocent === 'a' ? 'b' : 'a';
  third.begun.get(innocent!)!.end(DONE);
  assert.deepEqual(await third.ends.get(innocent!), DONE);
  await third.until(() => third.begun.has(guilty));
  const fourth = life(first, [guilty, 'new']);
  assert.equal(codeOf(await fourth.ends.get(guilty)), 'invocation_poisoned');
  await fourth.until(() => fourth.begun.has('new'));
  // A retry of it is an execution like any other
  const retried = life(other, [guilty]);
  await retried.until(() => retried.begun.has(guilty));
}

test('after three unclean ends an execution fails, and only the guilty one', async (t) =>
  threeEnds(await openStore(t)));

test('processes that share a database count together', async (t) => {
  const [first, second] = await openShared(t);
  if (first) await threeEnds(first, second);
});

test('who only waited for its turn is not counted', async (t) => {
  const store = await openStore(t);
  const runIds = ['a', 'b'];
  const first = life(store, runIds);
  await first.until(() => first.begun.size === 2);
  const second = life(store, runIds);
  await second.until(() => second.begun.size === 1);
  const third = life(store, runIds);
  await third.until(() => third.begun.size === 1);
  assert.deepEqual([...second.begun.keys(), ...third.begun.keys()], ['a', 'b']);
  assert.equal(codeOf(await third.ends.get('a')), 'invocation_poisoned');
});

for (const [name, reset] of [
  ['an orderly stop', async ({ guard }) => guard.stop()],
  ['a recorded call', async ({ begun }) => begun.get('a')?.work.recorded?.()],
] as [string, (of: ReturnType<typeof life>) => Promise<void>][])
  test(`${name} takes the count back`, async (t) => {
    const store = await openStore(t);
    for (let lives = 0; lives < 5; lives++) {
      const one = life(store, ['a'], 2);
      await one.until(() => one.begun.has('a'));
      await reset(one);
      await settled();
    }
  });

test('a longer life takes the count back, and lets the next suspect begin', async (t) => {
  const store = await openStore(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let lives = 0; lives < 6; lives++) {
    const one = life(store, ['a', 'b']);
    await one.until(() => one.begun.size > 0);
    if (lives % 2 === 0) continue;
    t.mock.timers.tick(60_000);
    await one.until(() => one.begun.size === 2);
    t.mock.timers.tick(60_000);
    await settled();
  }
});

test('switched off, nothing is counted', async (t) => {
  const store = await openStore(t);
  for (let lives = 0; lives < 5; lives++) {
    const one = life(store, ['a'], 0);
    await one.until(() => one.begun.has('a'));
  }
  assert.equal(await store.entries.count('suspect', 'acme'), 0);
});
