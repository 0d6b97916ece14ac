/** Workflows and ended runs are deleted, with what hangs on them and nothing else. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { openSqlite, type Store } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { type ApiTest, apiTest, assertError } from './testing/api-test.ts';

const RUNS = '/v1/host/gantry/runs';
const WORKFLOWS = '/v1/host/gantry/workflows';

const asks = node('ask', 'core.approvalGate');
const sub = (workflowId: string) => node('sub', 'core.subWorkflow', { workflowId });
const DEFINITIONS = [
  workflow('leaf', [node('a', 'core.noop')]),
  workflow('middle', [sub('leaf')]),
  workflow('parent', [sub('middle')]),
  workflow('asking', [asks]),
  workflow('asking-parent', [sub('asking')]),
  workflow('failing', [node('b', 'core.fail', {}, { settings: { maxRetries: 1, backoffMs: 0 } })]),
];

const SHARED = workflow('everyone', [node('a', 'core.noop')]);

interface DeletionTest extends ApiTest {
  remove(url: string, headers?: Record<string, string>): ReturnType<ApiTest['get']>;
  childrenOf(runId: string): Promise<string[]>;
}

async function opened(t: TestContext, databaseUrl?: string, store?: Store): Promise<DeletionTest> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await writeFile(join(folder.path, 'everyone.json'), JSON.stringify(SHARED));
  const settings = {
    workflowsDir: folder.path,
    ...(databaseUrl && { databaseUrl, masterKey: 'b'.repeat(64) }),
  };
  const api = await apiTest(t, { workflows: DEFINITIONS, settings, ...(store && { store }) });
  return {
    ...api,
    remove: (url, headers = {}) => api.request({ method: 'DELETE', url, headers }),
    async childrenOf(runId) {
      const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
      const dispatched = events.filter(({ type }: JsonObject) => type === 'node.dispatched');
      return dispatched.map(({ payload }: { payload: JsonObject }) => String(payload.childRunId));
    },
  };
}

const scoped = async (api: ApiTest, scopes: string[], tenant?: string) => {
  const made = await api.post('/v1/host/gantry/keys', { name: 'k', scopes, ...(tenant && { tenant }) });
  return { authorization: `Bearer ${made.json().key}` };
};

async function deletesRuns(api: DeletionTest): Promise<void> {
  const { start, ended, get, remove, childrenOf, post } = api;
  const parent = await start('parent');
  await ended(parent);
  const [middle] = await childrenOf(parent);
  const [leaf] = await childrenOf(middle!);
  const fork = (await post(`/v1/runs/${parent}:fork`, { mode: 'replay', fromSeq: 0 })).json().runId;
  await ended(fork);
  const reader = await scoped(api, ['runs:read', 'runs:cancel']);
  assertError(await remove(`${RUNS}/${parent}`, reader), 403, 'forbidden');
  const alien = await scoped(api, ['runs:delete'], 'other');
  assertError(await remove(`${RUNS}/${parent}`, alien), 404, 'not_found');
  assert.deepEqual(
    (await remove(`${RUNS}/${fork}`)).json(),
    { deleted: [fork] },
    'children of its source stay',
  );
  const once = { 'idempotency-key': `delete-${parent}` };
  for (const _ of ['first', 'again'])
    assert.deepEqual((await remove(`${RUNS}/${parent}`, once)).json(), { deleted: [leaf, middle, parent] });
  for (const runId of [parent, middle, leaf]) {
    assertError(await get(`/v1/runs/${runId}`), 404, 'not_found');
    assertError(await get(`/v1/runs/${runId}/events/poll`), 404, 'not_found');
  }
  assertError(await remove(`${RUNS}/${parent}`), 404, 'not_found');
}

async function refusesActive(api: DeletionTest): Promise<void> {
  const { start, ended, get, remove, childrenOf, post } = api;
  const parent = await start('asking-parent');
  for (let asked = 404; asked !== 200; ) {
    const [child] = await childrenOf(parent);
    if (child) asked = (await get(`/v1/runs/${child}/interrupts/ask`)).statusCode;
  }
  const [child] = await childrenOf(parent);
  for (const runId of [child, parent]) {
    const refused = await remove(`${RUNS}/${runId}`);
    assertError(refused, 409, 'conflict');
    assert.match(refused.json().message, /Cancel it first/);
  }
  const inUse = await remove(`${WORKFLOWS}/asking`);
  assertError(inUse, 409, 'conflict');
  assert.equal(inUse.json().details.runId, child);
  await post(`/v1/runs/${parent}/cancel`, {});
  await ended(parent);
  await ended(child!);
  assert.equal((await remove(`${WORKFLOWS}/asking`)).statusCode, 200);
  assert.equal((await get(`/v1/runs/${child}`)).json().status, 'cancelled', 'its runs stay');
  assertError(await post('/v1/runs', { workflowId: 'asking' }), 404, 'not_found');
  assertError(await post('/v1/runs', { workflowId: 'asking-parent' }), 422, 'unknown_child_workflow');
}

async function forgetsLetters(api: DeletionTest): Promise<void> {
  const { start, ended, get, remove } = api;
  const [kept, gone] = [await start('failing'), await start('failing')];
  await ended(kept);
  await ended(gone);
  assert.equal((await remove(`${RUNS}/${gone}`)).statusCode, 200);
  const { deadLetters } = (await get('/v1/host/gantry/dead-letters')).json();
  assert.deepEqual(
    deadLetters.map(({ runId }: JsonObject) => runId),
    [kept],
  );
}

async function takesTriggers(api: DeletionTest): Promise<void> {
  const { get, post, remove, registered } = api;
  const triggers = [
    { id: 'nightly', type: 'schedule', enabled: true, config: { cron: '0 3 * * *' } },
    { id: 'hook', type: 'webhook', enabled: true, config: {} },
  ];
  const definition = workflow('timed', [node('a', 'core.noop')], { triggers } as object);
  await registered(definition);
  const byHand = (await post('/v1/host/gantry/schedules', { workflowId: 'timed', cron: '0 4 * * *' })).json();
  const of = async (list: string): Promise<JsonObject[]> =>
    (await get(`/v1/host/gantry/${list}`)).json()[list === 'schedules' ? list : 'subscriptions'];
  const names = async () => [(await of('schedules')).length, (await of('trigger-subscriptions')).length];
  assert.deepEqual(await names(), [2, 1]);
  assert.equal((await remove(`${WORKFLOWS}/timed`)).statusCode, 200);
  assert.deepEqual(
    [(await of('schedules')).map(({ scheduleId }) => scheduleId), await of('trigger-subscriptions')],
    [[byHand.scheduleId], []],
    'what the definition asked for goes, what was made by hand stays',
  );
  assertError(await remove(`${WORKFLOWS}/timed`), 404, 'not_found');
  await registered({ ...definition, version: '0.9.0' });
  assert.deepEqual(await names(), [2, 1], 'it may come again, under a lower version too');
}

async function guardsShared(api: DeletionTest): Promise<void> {
  const { get, remove, registered, ended, start } = api;
  await registered({ ...SHARED, name: 'own' });
  const tenant = await scoped(api, ['workflows:write', 'manifest:read'], 'other');
  assertError(await remove(`${WORKFLOWS}/everyone`, tenant), 403, 'forbidden');
  const nameOf = async () => (await get('/v1/workflows/everyone')).json().name;
  assert.equal(await nameOf(), 'own');
  const run = await start('everyone');
  await ended(run);
  await remove(`${WORKFLOWS}/everyone`);
  assert.equal(await nameOf(), 'everyone', 'the shared one shows again');
  await remove(`${WORKFLOWS}/everyone`);
  assertError(await get('/v1/workflows/everyone', tenant), 404, 'not_found');
  assert.equal((await get(`/v1/runs/${run}`)).json().status, 'completed', 'and a run of it is readable');
}

const TESTS = {
  'a run goes with its children, for who may, once': deletesRuns,
  'nothing that is active, or a workflow with active runs': refusesActive,
  'dead letters of a run go with it': forgetsLetters,
  'schedules and subscriptions of the definition go with a workflow': takesTriggers,
  'a shared workflow is deleted by a host admin alone': guardsShared,
};

for (const database of ['SQLite', 'PostgreSQL'])
  test(`deleting on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await freshDatabase() : undefined;
    if (fresh && 'skip' in fresh) {
      t.skip(fresh.skip);
      return;
    }
    const api = await opened(t, fresh?.url);
    if (fresh) t.after(fresh.drop);
    for (const [name, run] of Object.entries(TESTS)) await t.test(name, () => run(api));
  });

test('what a crash left of a deletion goes with a repeat', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  let failing = true;
  const { retention } = store;
  const deleteRun: typeof retention.deleteRun = (tenant, runId) => {
    if (failing && runId === parent) throw new Error('the process died here');
    return retention.deleteRun(tenant, runId);
  };
  const api = await opened(t, undefined, { ...store, retention: { ...retention, deleteRun } });
  t.after(folder.remove);
  const parent = await api.start('parent');
  await api.ended(parent);
  const [middle] = await api.childrenOf(parent);
  assertError(await api.remove(`${RUNS}/${parent}`), 500, 'internal_error');
  assertError(await api.get(`/v1/runs/${middle}`), 404, 'not_found');
  assert.equal((await api.get(`/v1/runs/${parent}`)).statusCode, 200);
  failing = false;
  assert.deepEqual((await api.remove(`${RUNS}/${parent}`)).json(), { deleted: [parent] });
});
