/** Commands for a run that another process on the same database works on. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type CommitResult, openPostgres, type Store, StoreError, type Write } from '@gantry/store';
import type { LightMyRequestResponse } from 'fastify';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { type TestHost, testHost } from './testing/test-host.ts';

const TENANT = 'default';
const gate = node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const act = (id: string, count: number) =>
  node(id, 'core.conformance.side-effect', { effects: count, idempotent: true });
/** Not over before the test ends it. */
const endless = Array.from({ length: 30 }, (_, index) => act(`act-${index}`, 100));
const WORKFLOWS = [
  workflow('brief', [gate, act('act', 1)], { edges: [] }),
  workflow('short', [gate, act('act', 30)], { edges: [] }),
  workflow('long', [gate, ...endless], { edges: [] }),
  workflow('asks', [gate]),
];

interface Pair {
  readonly owner: TestHost;
  readonly other: TestHost;
  /** The database, past both hosts. */
  readonly store: Store;
}

/** Two hosts on one database; `around` may change what the second one's store does. */
async function twoHosts(
  t: TestContext,
  around: (store: Store) => Store,
  aroundOwner = (store: Store): Store => store,
): Promise<Pair | null> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return null;
  }
  const settings = { databaseUrl: database.url, masterKey: 'm'.repeat(64) };
  const store = await openPostgres({ url: database.url });
  const open = () => openPostgres({ url: database.url });
  const owner = await testHost(t, { settings, workflows: WORKFLOWS, store: aroundOwner(await open()) });
  const other = await testHost(t, { settings, store: around(await open()) });
  t.after(store.close);
  t.after(database.drop);
  return { owner, other, store };
}

const send = (
  { request }: TestHost,
  url: string,
  payload: object,
  key = 'one',
): Promise<LightMyRequestResponse> =>
  request({
    method: 'POST',
    url,
    payload: JSON.stringify(payload),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  });

async function start(host: TestHost, workflowId: string): Promise<string> {
  const created = await send(host, '/v1/runs', { workflowId }, workflowId);
  assert.equal(created.statusCode, 201, created.body);
  return created.json().runId;
}

const approve = (host: TestHost, runId: string): Promise<LightMyRequestResponse> =>
  send(host, `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } });

const isForwarded = (write: Write): boolean =>
  write.kind === 'putEntry' && write.entry.kind === 'mail' && write.entry.body.startsWith('sealed:');

const endsNode = (write: Write): boolean =>
  write.kind === 'append' && write.events.some(({ type }) => type === 'node.completed');

/** Asks `instead` of every group that is committed alone and matches. */
const intercept = (store: Store, matches: (write: Write) => boolean, instead: Store['commit']): Store => ({
  ...store,
  commit: (groups) => (groups.flat().some(matches) ? instead(groups) : store.commit(groups)),
});

const lost = (): StoreError =>
  new StoreError('io', 'The answer of the database was lost.', { outcome: 'unknown' });

test('a forwarded pause waits for the node that another process works on', async (t) => {
  // It ends once the pause is on its way: after 5 s a pause waits no longer, which a busy machine may take
  const { promise: forwarded, resolve } = Promise.withResolvers<void>();
  const pair = await twoHosts(
    t,
    (store) =>
      intercept(store, isForwarded, async (groups) => {
        const results = await store.commit(groups);
        resolve();
        return results;
      }),
    (store) =>
      intercept(store, endsNode, async (groups) => {
        await forwarded;
        return store.commit(groups);
      }),
  );
  if (!pair) return;
  const runId = await start(pair.owner, 'brief');
  const paused = await send(pair.other, `/v1/runs/${runId}:pause`, {});
  assert.deepEqual([paused.statusCode, paused.json().status], [202, 'paused']);
  const { events } = (await pair.other.request({ url: `/v1/runs/${runId}/events/poll` })).json();
  const types: string[] = events.map(({ type }: { type: string }) => type);
  assert.deepEqual(types.slice(-2), ['node.completed', 'run.paused'], types.join(' '));
});

test('the record of a forwarded command is in the commit of its effect', async (t) => {
  // Whatever the process that was asked would write on its own after the reply is lost.
  const pair = await twoHosts(t, (store) => ({
    ...store,
    commit: async (groups) => {
      if (groups.some(([first, second]) => first?.kind === 'idempotency' && !second)) throw lost();
      return store.commit(groups);
    },
  }));
  if (!pair) return;
  const runId = await start(pair.owner, 'long');
  const first = await approve(pair.other, runId);
  assert.equal(first.statusCode, 200, first.body);
  const again = await approve(pair.other, runId);
  assert.equal(again.statusCode, 200, again.body);
  assert.equal(again.headers['openwop-idempotent-replay'], 'true');
  assert.equal(again.body, first.body);
  await send(pair.owner, `/v1/runs/${runId}/cancel`, {}, 'end');
});

test('a command is carried out when the owner has let go of the run meanwhile', async (t) => {
  // Nor is the mail found by the sweeps that come with a renewal of the lease.
  const unswept = (store: Store): Store => ({ ...store, entries: { ...store.entries, due: async () => [] } });
  const pair = await twoHosts(
    t,
    (store) =>
      intercept(unswept(store), isForwarded, async (groups) => {
        for (;;) {
          const rows = await store.runs.list(TENANT, { limit: 1 });
          if (rows[0]?.owner === null) return store.commit(groups);
        }
      }),
    unswept,
  );
  if (!pair) return;
  const runId = await start(pair.owner, 'short');
  const approved = await approve(pair.other, runId);
  assert.equal(approved.statusCode, 200, approved.body);
});

test('a forwarded command whose answer is lost is of unknown outcome, and may be repeated', async (t) => {
  let reads = 0;
  const pair = await twoHosts(t, (store) => ({
    ...intercept(store, isForwarded, async (groups): Promise<CommitResult[]> => {
      const results = await store.commit(groups);
      if (reads++ === 0) throw lost();
      return results;
    }),
    entries: {
      ...store.entries,
      get: (key) => (key.kind === 'reply' && reads < 2 ? Promise.reject(lost()) : store.entries.get(key)),
    },
  }));
  if (!pair) return;
  const runId = await start(pair.owner, 'long');
  const first = await approve(pair.other, runId);
  assert.equal(first.statusCode, 503, first.body);
  const { message, details } = first.json();
  assert.match(message, /unknown whether the change was made.*same Idempotency-Key is safe/s);
  assert.equal(details.outcome, 'unknown');
  const again = await approve(pair.other, runId);
  assert.equal(again.statusCode, 200, again.body);
  await send(pair.owner, `/v1/runs/${runId}/cancel`, {}, 'end');
});

test('a command that loses to others is tried again, then refused with nothing changed', async (t) => {
  let losses = 0;
  const pair = await twoHosts(t, (store) =>
    intercept(
      store,
      (write) => write.kind === 'append' && losses-- > 0,
      async (groups) => groups.map(() => ({ won: false, write: 0, reason: 'stale' })),
    ),
  );
  if (!pair) return;
  const runId = await start(pair.owner, 'asks');
  losses = Number.POSITIVE_INFINITY;
  const refused = await approve(pair.other, runId);
  assert.equal(refused.statusCode, 503, refused.body);
  assert.match(refused.json().message, /nothing was changed/);
  losses = 6;
  const approved = await approve(pair.other, runId);
  assert.equal(approved.statusCode, 200, approved.body);
});
