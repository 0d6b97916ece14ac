/** What the store says of a write whose answer was lost, against a real server behind a proxy that loses it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create, TENANT } from '../contract/fixtures.ts';
import { StoreError, type WriteOutcome } from '../error.ts';
import type { Store } from '../port.ts';
import { type Failure, openProxy, type PostgresProxy } from '../testing/postgres-proxy.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
let proxy: PostgresProxy;
let store: Store;
if ('url' in database) {
  proxy = await openProxy(database.url);
  store = await openPostgres({ url: proxy.url });
}
after(async () => {
  if (!('drop' in database)) return;
  await store.close();
  await proxy.close();
  await database.drop();
});

const LOOK_UP = /^insert into commit_marks/;

async function outcomeOf(work: Promise<unknown>): Promise<WriteOutcome> {
  const error = await work.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StoreError, String(error));
  assert.equal(error.code, 'io');
  return error.outcome;
}

const cases: readonly [statement: RegExp, failure: Failure, outcome: WriteOutcome, isKept: boolean][] = [
  [/^insert into runs/, 'drop-answer', 'not-applied', false],
  [/^begin/, 'cut-before', 'not-applied', false],
];

for (const [statement, failure, outcome, isKept] of cases)
  test(`a commit with ${failure} at ${statement.source} is ${outcome}`, { skip }, async () => {
    const runId = `${failure}-${statement.source}`;
    const failed = proxy.failAt(statement, failure);
    assert.equal(await outcomeOf(store.commit([[create(runId)]])), outcome);
    await failed;
    assert.equal((await store.runs.row(TENANT, runId)) !== null, isKept);
  });

for (const failure of ['drop-answer', 'cut-before'] as const)
  test(`a commit with ${failure} at commit is looked up, and done once`, { skip }, async () => {
    const runId = `settled-${failure}`;
    const failed = proxy.failAt(/^commit/, failure);
    const losing = [create('settled-drop-answer'), create(runId)];
    assert.deepEqual(await store.commit([[create(runId)], losing]), [
      { won: true },
      { won: false, write: 0, reason: 'exists' },
    ]);
    await failed;
    assert.notEqual(await store.runs.row('acme', runId), null);
  });

test('a commit that cannot be looked up is of unknown outcome; watchers hear of its end', {
  skip,
}, async () => {
  const hurried = await openPostgres({ url: proxy.url, outcomeTimeoutMs: 0 });
  const { promise: told, resolve } = Promise.withResolvers<void>();
  await hurried.watch(({ missed }) => missed && resolve());
  void proxy.failAt(/^commit/, 'drop-answer');
  void proxy.failAt(LOOK_UP, 'drop-answer');
  assert.equal(await outcomeOf(hurried.commit([[create('late')]])), 'unknown');
  await told;
  assert.notEqual(await store.runs.row('acme', 'late'), null);
  await hurried.close();
});

test('a look-up whose answer is lost is repeated, and tells the same', { skip }, async () => {
  for (const failure of ['drop-answer', 'cut-before'] as const) {
    void proxy.failAt(/^commit/, failure);
    void proxy.failAt(LOOK_UP, 'drop-answer');
    void proxy.failAt(LOOK_UP, 'cut-before');
    assert.deepEqual(await store.commit([[create(`twice-${failure}`)]]), [{ won: true }]);
  }
});

test('a lease or a claim whose answer was lost is of unknown outcome', { skip }, async () => {
  const epoch = await store.leases.acquire('process', 0, 1_000);
  for (const [statement, work] of [
    [/^insert into leases/, () => store.leases.acquire('other', 0, 1_000)],
    [/^with due/, () => store.leases.claimDue(epoch, 1, 10)],
    [/^with orphans/, () => store.leases.claimOrphans(epoch, 1, 10)],
  ] as const) {
    void proxy.failAt(statement, 'drop-answer');
    assert.equal(await outcomeOf(work()), 'unknown', statement.source);
  }
});

test('without a server nothing was applied', { skip }, async () => {
  const own = await openProxy((database as { url: string }).url);
  const unreachable = await openPostgres({ url: own.url });
  await own.close();
  assert.equal(await outcomeOf(unreachable.leases.acquire('process', 0, 1_000)), 'not-applied');
  assert.equal(await outcomeOf(unreachable.commit([[create('never')]])), 'not-applied');
  await unreachable.close();
});
