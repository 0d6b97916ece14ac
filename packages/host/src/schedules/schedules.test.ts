/** What firing promises when workflows change, capacity ends or processes do. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCHEDULE_LIMITS, type WorkflowDefinition } from '@gantry/protocol';
import { openSqlite, type Store } from '@gantry/store';
import { apiTest, assertError, slow, three } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { schedules } from './schedule.ts';

const URL = '/v1/host/gantry/schedules';
const START = Date.parse('2027-01-01T00:00:30Z');
const MINUTE = 60_000;
const key = { kind: schedules.kind, tenant: 'default' };

const scheduled = (id: string, cron: string, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition =>
  workflow(id, [node('a', 'core.noop')], {
    triggers: [{ id: 'clock', type: 'schedule', config: { cron } }],
    ...more,
  });

async function setUp(t: TestContext, options: Parameters<typeof apiTest>[1] = {}) {
  const clock = { at: START };
  const api = await apiTest(t, { workflows: [three, slow], now: () => clock.at, ...options });
  const list = async () => (await api.get(URL)).json().schedules;
  const runs = async () => (await api.get('/v1/host/gantry/runs')).json().runs;
  const register = async (definition: WorkflowDefinition) => {
    const response = await api.post('/v1/host/gantry/workflows', definition);
    assert.equal(response.statusCode, 201, response.body);
  };
  const passTo = async (at: number) => {
    clock.at = at;
    await api.host.services.schedules.tick();
  };
  return { ...api, clock, list, runs, register, passTo };
}

test('triggers of a workflow become schedules, follow its versions and go with them', async (t) => {
  const { list, runs, register, passTo, post, request } = await setUp(t);
  await register(scheduled('report', '0 9 * * *'));
  const [first] = await list();
  assert.deepEqual([first.workflowId, first.triggerId, first.cron], ['report', 'clock', '0 9 * * *']);
  assertError(await request({ method: 'DELETE', url: `${URL}/${first.scheduleId}` }), 409, 'conflict');
  await register(scheduled('report', '*/5 * * * *', { version: '2.0.0' }));
  const [second, ...more] = await list();
  assert.deepEqual([second.scheduleId, second.cron, more], [first.scheduleId, '*/5 * * * *', []]);
  await passTo(START + 5 * MINUTE);
  assert.deepEqual(
    (await runs()).map(({ workflowId }: { workflowId: string }) => workflowId),
    ['report'],
  );
  await post(`${URL}/${first.scheduleId}:pause`);
  await register(scheduled('report', '*/7 * * * *', { version: '3.0.0' }));
  assert.equal((await list())[0].status, 'paused', 'a pause outlives a new version');
  await register(scheduled('report', '*/7 * * * *', { version: '4.0.0', isActive: false }));
  assert.deepEqual(await list(), []);
});

test('a registration that changes nothing leaves the schedule as it is', async (t) => {
  const { clock, list, register } = await setUp(t);
  await register(scheduled('report', '* * * * *'));
  const [before] = await list();
  clock.at += 10 * MINUTE;
  await register(scheduled('report', '* * * * *', { version: '2.0.0', name: 'Report' }));
  assert.deepEqual(await list(), [before]);
});

test('a delay counts from the registration, fires once, and never again', async (t) => {
  const { host, list, runs, register, passTo } = await setUp(t);
  const later = scheduled('later', '', {
    triggers: [{ id: 'wait', type: 'schedule', config: { delayMs: 5 * MINUTE } }],
  });
  await register(later);
  await passTo(START + 4 * MINUTE);
  await register(later);
  assert.equal((await list())[0].at, new Date(START + 5 * MINUTE).toISOString());
  await passTo(START + 5 * MINUTE);
  await register(later);
  await passTo(START + 20 * MINUTE);
  assert.equal((await runs()).length, 1);
  const month = START + 31 * 86_400_000;
  await passTo(month);
  await host.sweep();
  assert.deepEqual(await list(), []);
  await register(later);
  await passTo(month + MINUTE);
  assert.deepEqual(await runs(), [], 'the old run is past its retention, and there is no new one');
});

test('a definition with a trigger that could never fire is refused', async (t) => {
  const { post, list } = await setUp(t);
  const wrong = await post('/v1/host/gantry/workflows', scheduled('report', '0 25 * * *'));
  assertError(wrong, 400, 'validation_error');
  assert.equal(wrong.json().details.issues[0].path, '/triggers/0/config');
  assert.deepEqual(await list(), []);
});

test('a workflow that no longer takes the inputs is recorded, and the schedule goes on', async (t) => {
  const { get, post, list, runs, register, passTo } = await setUp(t);
  await post(URL, { workflowId: 'three', cron: '* * * * *' });
  const variables: WorkflowDefinition['variables'] = [{ name: 'who', type: 'string', required: true }];
  await register({ ...three, version: '2.0.0', variables });
  await passTo(START + MINUTE);
  assert.deepEqual(await runs(), []);
  const [failed] = await list();
  assert.equal(failed.lastError.code, 'validation_error');
  assert.deepEqual([failed.status, failed.nextFireAt], ['active', '2027-01-01T00:02:00.000Z']);
  await register({ ...three, version: '3.0.0' });
  await passTo(START + 2 * MINUTE);
  assert.equal((await runs()).length, 1);
  assert.equal((await get(`${URL}/${failed.scheduleId}`)).json().lastError, undefined);
});

test('a trigger whose ticks could never start a run is refused, with the place and the next step', async (t) => {
  const { post, register } = await setUp(t);
  const variables: WorkflowDefinition['variables'] = [
    { name: 'who', type: 'string', required: true },
    { name: 'days', type: 'number' },
  ];
  const asked = (inputs: object, enabled = true): WorkflowDefinition =>
    scheduled('asked', '', {
      variables,
      triggers: [{ id: 'clock', type: 'schedule', enabled, config: { cron: '* * * * *', inputs } }],
    });
  const cases: [object, string, RegExp][] = [
    [{}, '/triggers/0/config/inputs/who', /who is required.*never start a run\. Set it in `inputs`/],
    [{ who: 7 }, '/triggers/0/config/inputs/who', /who must be of type string/],
    [{ who: 'ann', days: '7' }, '/triggers/0/config/inputs/days', /days must be of type number/],
  ];
  for (const [inputs, path, message] of cases) {
    const refused = await post('/v1/host/gantry/workflows', asked(inputs));
    assert.equal(refused.statusCode, 400, refused.body);
    const [issue] = refused.json().details.issues;
    assert.equal(issue.path, path);
    assert.match(issue.message, message);
  }
  await register(asked({}, false));
  await register({ ...asked({ who: 'ann' }), version: '2.0.0' });
});

test('ticks in a row that start no run are one dead letter, whose retry fires the schedule now', async (t) => {
  const { get, post, list, runs, register, clock, passTo } = await setUp(t);
  await post(URL, { workflowId: 'three', cron: '0 * * * *' });
  const variables: WorkflowDefinition['variables'] = [{ name: 'who', type: 'string', required: true }];
  await register({ ...three, version: '2.0.0', variables });
  await passTo(START + 60 * MINUTE);
  await passTo(START + 120 * MINUTE);
  const [failed] = await list();
  assert.equal(failed.lastError.failures, 2);
  const letters = async () => (await get('/v1/host/gantry/dead-letters')).json().deadLetters;
  const [letter, ...others] = await letters();
  assert.deepEqual(others, []);
  const { type, workflowId, scheduleId, scheduledFor, reason, attempts } = letter;
  assert.deepEqual(
    [type, workflowId, scheduleId, scheduledFor, reason, attempts],
    ['schedule', 'three', failed.scheduleId, '2027-01-01T02:00:00.000Z', 'validation_error', 2],
  );
  assert.match(letter.message, /who is required/);
  await register({ ...three, version: '3.0.0' });
  const retried = await post(`/v1/host/gantry/dead-letters/${letter.deadLetterId}:retry`);
  assert.deepEqual([retried.statusCode, retried.json()], [202, { type: 'schedule', scheduleId }]);
  await passTo(clock.at + 1);
  assert.equal((await runs()).length, 1);
  const [mended] = await list();
  assert.deepEqual([mended.lastError, mended.nextFireAt], [undefined, '2027-01-01T03:00:00.000Z']);
  assert.deepEqual(await letters(), []);
});

test('without room for a run the tick waits and then fires once', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(folder.remove);
  const gate = { isFull: false };
  const commit: Store['commit'] = (groups) =>
    gate.isFull && groups.some((group) => group.some(({ kind }) => kind === 'createRun'))
      ? Promise.reject(new Error('the disk is full'))
      : store.commit(groups);
  const { post, list, runs, passTo } = await setUp(t, { store: { ...store, commit } });
  await post(URL, { workflowId: 'three', cron: '* * * * *' });
  gate.isFull = true;
  await passTo(START + MINUTE);
  assert.equal((await list())[0].nextFireAt, '2027-01-01T00:01:00.000Z');
  gate.isFull = false;
  await passTo(START + MINUTE + 1_000);
  await passTo(START + MINUTE + 1_001);
  assert.equal((await runs()).length, 1);
});

test('a tenant has room for so many schedules, its triggers included', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(folder.remove);
  const { post, register } = await setUp(t, { store });
  await post(URL, { workflowId: 'three', cron: '@daily' });
  const [one] = await store.entries.list(schedules.kind, key.tenant, { limit: 1 });
  const puts = Array.from({ length: SCHEDULE_LIMITS.perTenantMax - 2 }, (_, i) => {
    const { version, ...entry } = one!;
    assert.equal(version, 1);
    return { kind: 'putEntry', entry: { ...entry, id: `sch_${i}` }, expectedVersion: null } as const;
  });
  await store.commit([puts]);
  const createAll = Array.from({ length: 3 }, () => post(URL, { workflowId: 'three', cron: '@daily' }));
  const statuses = (await Promise.all(createAll)).map(({ statusCode }) => statusCode);
  assert.deepEqual(statuses.sort(), [201, 409, 409], 'at once, too');
  const refused = await post(URL, { workflowId: 'three', cron: '@daily' });
  assertError(refused, 409, 'conflict', { limit: SCHEDULE_LIMITS.perTenantMax });
  await register(scheduled('report', '@daily'));
  assert.equal(await store.entries.count(schedules.kind, key.tenant), SCHEDULE_LIMITS.perTenantMax);
});

test('two that fire the same tick at once make one run', async (t) => {
  const { host, post, runs } = await setUp(t);
  const { scheduleId } = (await post(URL, { workflowId: 'three', cron: '* * * * *' })).json();
  const fire = () => host.services.schedules.fireAt({ ...key, id: scheduleId }, START + 10 * MINUTE);
  const fired = await Promise.all([fire(), fire(), fire()]);
  assert.equal(
    fired.reduce((sum, count) => sum + count, 0),
    1,
  );
  assert.equal((await runs()).length, 1);
});
