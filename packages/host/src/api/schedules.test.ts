import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCHEDULING_CAPABILITY } from '@gantry/protocol';
import { apiTest, assertError, secretive, slow, three } from './testing/api-test.ts';

const URL = '/v1/host/gantry/schedules';
const START = Date.parse('2027-01-01T00:00:30Z');
const MINUTE = 60_000;

async function setUp(t: TestContext) {
  const clock = { at: START };
  const api = await apiTest(t, { workflows: [three, slow, secretive], now: () => clock.at });
  const remove = (url: string) => api.request({ method: 'DELETE', url });
  const create = async (body: object, headers: Record<string, string> = {}) => {
    const response = await api.post(URL, { workflowId: 'three', ...body }, headers);
    assert.equal(response.statusCode, 201, response.body);
    return response.json();
  };
  const runs = async () => (await api.get('/v1/host/gantry/runs')).json().runs;
  const passTo = async (at: number) => {
    clock.at = at;
    await api.host.services.schedules.tick();
  };
  return { ...api, clock, remove, create, runs, passTo };
}

test('a schedule is made, read, listed, previewed and deleted', async (t) => {
  const { get, create, remove } = await setUp(t);
  const made = await create({ cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', tags: ['daily'] });
  assert.equal(made.status, 'active');
  assert.equal(made.nextFireAt, '2027-01-01T08:00:00.000Z');
  const other = await create({ delayMs: 5_000 });
  assert.equal(other.at, new Date(START + 5_000).toISOString());
  assert.deepEqual((await get(`${URL}/${made.scheduleId}`)).json(), made);
  const page = (await get(`${URL}?limit=1`)).json();
  assert.equal(page.schedules.length, 1);
  const rest = (await get(`${URL}?before=${page.nextBefore}`)).json();
  const ids = [...page.schedules, ...rest.schedules].map(({ scheduleId }) => scheduleId);
  assert.deepEqual(ids.sort(), [made.scheduleId, other.scheduleId].sort());
  assert.deepEqual((await get(`${URL}/${made.scheduleId}/next?count=2`)).json().times, [
    '2027-01-01T08:00:00.000Z',
    '2027-01-04T08:00:00.000Z',
  ]);
  assert.equal((await remove(`${URL}/${made.scheduleId}`)).statusCode, 200);
  assertError(await get(`${URL}/${made.scheduleId}`), 404, 'not_found');
  assertError(await remove(`${URL}/${made.scheduleId}`), 404, 'not_found');
});

test('a preview needs no schedule', async (t) => {
  const { post } = await setUp(t);
  const answer = await post(`${URL}:preview`, { cron: '30 2 * * *', timezone: 'Europe/Berlin', count: 2 });
  assert.deepEqual(answer.json().times, ['2027-01-01T01:30:00.000Z', '2027-01-02T01:30:00.000Z']);
  assertError(await post(`${URL}:preview`, { cron: '30 2 * *' }), 400, 'validation_error');
  assertError(await post(`${URL}:preview`, { cron: '* * * * *', count: 101 }), 400, 'validation_error');
});

test('what is wrong with a schedule is said when it is made', async (t) => {
  const { post } = await setUp(t);
  const refuse = async (body: object, code: string, status = 400) => {
    const response = await post(URL, { workflowId: 'three', ...body });
    assertError(response, status, code);
    return response.json();
  };
  const wrong = await refuse({ cron: '0 25 * * *' }, 'validation_error');
  assert.equal(wrong.details.fields[0].part, 'hour');
  assert.match(wrong.message, /hour/);
  await refuse({ cron: '0 9 * * *', timezone: 'Mars/Olympus' }, 'validation_error');
  await refuse({ cron: '0 0 30 2 *' }, 'validation_error');
  await refuse({}, 'validation_error');
  await refuse({ cron: '* * * * *', delayMs: 1 }, 'validation_error');
  await refuse({ at: '2027-02-30T25:00:00Z' }, 'validation_error');
  const noDay = await refuse({ at: '2027-02-30T09:00:00Z' }, 'validation_error');
  assert.equal(noDay.message, '`at` is not a valid date and time.');
  await refuse({ cron: '@daily', endAt: '2027-04-31T09:00:00+02:00' }, 'validation_error');
  const noTime = await refuse({ at: 'tomorrow' }, 'validation_error');
  assert.equal(noTime.message, 'body/at must be an ISO 8601 date and time, as in 2030-12-31T23:59:59Z.');
  await refuse({ delayMs: 1, timezone: 'UTC' }, 'validation_error');
  await refuse({ workflowId: 'nowhere', delayMs: 1 }, 'not_found', 404);
  await refuse({ workflowId: 'secretive', delayMs: 1, inputs: { count: 'many' } }, 'validation_error');
  const far = await refuse({ at: '2037-01-01T00:00:00Z' }, 'schedule_horizon_exceeded', 422);
  assert.equal(far.details.maxFutureHorizon, SCHEDULING_CAPABILITY.maxFutureHorizon);
});

test('inputs that the workflow does not have are named in a warning', async (t) => {
  const { post } = await setUp(t);
  const warned = async (url: string, body: object) => {
    const answer = await post(url, body);
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.headers['gantry-warning'];
  };
  const misspelled = { workflowId: 'secretive', inputs: { coutn: 1 } };
  const warning = 'Unknown input "coutn" (ignored). Did you mean count?';
  assert.equal(await warned(URL, { cron: '@daily', ...misspelled }), warning);
  assert.equal(
    await warned(URL, { cron: '@daily', workflowId: 'secretive', inputs: { count: 1 } }),
    undefined,
  );
  const heartbeat = { workflowId: 'three', intervalSec: 60, enqueue: misspelled };
  assert.equal(await warned('/v1/host/gantry/heartbeats', heartbeat), warning);
});

test('a tick starts one run that names its cause, and the schedule says so', async (t) => {
  const { get, create, runs, passTo } = await setUp(t);
  const { scheduleId } = await create({ cron: '* * * * *', metadata: { team: 'ops' }, tags: ['tick'] });
  await passTo(START + 29_999);
  assert.deepEqual(await runs(), []);
  await passTo(START + 30_001);
  await passTo(START + 30_002);
  const [run, ...more] = await runs();
  assert.deepEqual(more, []);
  const { events } = (await get(`/v1/runs/${run.runId}/events/poll`)).json();
  assert.equal(events[0].causationId, `${scheduleId}@2027-01-01T00:01:00.000Z`);
  const snapshot = (await get(`/v1/runs/${run.runId}`)).json();
  assert.deepEqual([snapshot.tags, snapshot.metadata], [['tick'], { team: 'ops' }]);
  const { lastFire, nextFireAt } = (await get(`${URL}/${scheduleId}`)).json();
  assert.equal(lastFire.runId, run.runId);
  assert.deepEqual(
    [lastFire.scheduledFor, nextFireAt],
    ['2027-01-01T00:01:00.000Z', '2027-01-01T00:02:00.000Z'],
  );
});

test('an outage costs one run by default, none or each if asked for', async (t) => {
  const { create, runs, passTo } = await setUp(t);
  await create({ cron: '* * * * *', tags: ['once'] });
  await create({ cron: '* * * * *', tags: ['skip'], missedTicks: 'skip' });
  await create({ cron: '* * * * *', tags: ['each'], missedTicks: 'catch-up' });
  await passTo(START + 30_000 + 4 * MINUTE + 45_000);
  assert.equal((await runs()).length, 1 + 0 + 5);
});

test('a single time fires once and the schedule ends', async (t) => {
  const { get, create, runs, passTo } = await setUp(t);
  const { scheduleId } = await create({ at: '2027-01-01T01:00:00+01:00', missedTicks: 'fire-once' });
  await passTo(START);
  await passTo(START + MINUTE);
  assert.equal((await runs()).length, 1);
  const ended = (await get(`${URL}/${scheduleId}`)).json();
  assert.deepEqual([ended.status, ended.nextFireAt], ['ended', undefined]);
  assert.deepEqual((await get(`${URL}/${scheduleId}/next`)).json().times, []);
});

test('a paused schedule passes over its ticks, and goes on with the next', async (t) => {
  const { post, create, runs, passTo } = await setUp(t);
  const { scheduleId } = await create({ cron: '* * * * *', endAt: '2027-01-01T00:10:00Z' });
  assert.equal((await post(`${URL}/${scheduleId}:pause`)).json().status, 'paused');
  await passTo(START + 5 * MINUTE);
  assert.deepEqual(await runs(), []);
  const resumed = (await post(`${URL}/${scheduleId}:resume`)).json();
  assert.equal(resumed.nextFireAt, '2027-01-01T00:06:00.000Z');
  await passTo(START + 5 * MINUTE + 30_000);
  assert.equal((await runs()).length, 1);
  await passTo(START + 60 * MINUTE);
  assert.equal((await runs()).length, 2, 'the end has passed');
  assertError(await post(`${URL}/${scheduleId}:resume`), 409, 'conflict');
});

test('a repeat of a create makes no second schedule', async (t) => {
  const { get, post, create } = await setUp(t);
  const key = { 'idempotency-key': 'once' };
  const first = await create({ cron: '@daily' }, key);
  assert.deepEqual(await create({ cron: '@daily' }, key), first);
  assert.equal((await get(URL)).json().schedules.length, 1);
  const body = { workflowId: 'three', cron: '@hourly' };
  assertError(await post(URL, body, key), 409, 'idempotency_key_mismatch');
});

test('a change may ask for the version it was decided on', async (t) => {
  const { get, post, create } = await setUp(t);
  const url = `${URL}/${(await create({ cron: '@daily' })).scheduleId}`;
  const { etag } = (await get(url)).headers;
  const at = { 'if-match': String(etag) };
  const paused = await post(`${url}:pause`, undefined, at);
  assert.equal(paused.statusCode, 200);
  assert.notEqual(paused.headers.etag, etag);
  assertError(await post(`${url}:resume`, undefined, at), 409, 'conflict', { currentVersion: 2 });
  assertError(await post(`${url}:resume`, undefined, { 'if-match': 'x' }), 400, 'validation_error');
  assert.equal((await post(`${url}:resume`, undefined, { 'if-match': '*' })).json().status, 'active');
});

test('a repeat is refused as the first time, and says that it is one', async (t) => {
  const { post, create, remove, request } = await setUp(t);
  const key = { 'idempotency-key': 'again' };
  const url = `${URL}/${(await create({ cron: '@daily' })).scheduleId}`;
  const removal = () => request({ method: 'DELETE', url, headers: key });
  const [first, second] = [await removal(), await removal()];
  assert.deepEqual([second.statusCode, second.body], [200, first.body]);
  const resume = () => post(`${url}:resume`, undefined, key);
  assertError(await resume(), 404, 'not_found');
  const again = await resume();
  assertError(again, 404, 'not_found');
  const replays = [first, second, again].map(({ headers }) => headers['openwop-idempotent-replay']);
  assert.deepEqual(replays, [undefined, 'true', 'true']);
  assertError(await remove(url), 404, 'not_found');
});

test('sensitive inputs are in no listing', async (t) => {
  const { get, create, runs, passTo } = await setUp(t);
  const inputs = { token: 'hunter2', count: 3 };
  const made = await create({ workflowId: 'secretive', cron: '* * * * *', inputs });
  assert.equal(made.inputs.count, 3);
  await passTo(START + MINUTE);
  const [run] = await runs();
  const texts = [made, (await get(URL)).json(), (await get(`/v1/runs/${run.runId}`)).json()].map((each) =>
    JSON.stringify(each),
  );
  for (const text of texts) assert.doesNotMatch(text, /hunter2/);
});

test('tenants do not see each other, and scopes are asked for', async (t) => {
  const { get, post, request, create } = await setUp(t);
  const { scheduleId } = await create({ cron: '@daily' });
  const wanted = { name: 'other', tenant: 'other', scopes: ['runs:read', 'runs:create'] };
  const other = (await post('/v1/host/gantry/keys', wanted)).json().key;
  const reader = (await post('/v1/host/gantry/keys', { name: 'reader', scopes: ['runs:read'] })).json().key;
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  assert.deepEqual((await get(URL, as(other))).json().schedules, []);
  const url = `${URL}/${scheduleId}`;
  assertError(await get(url, as(other)), 404, 'not_found');
  assertError(await post(`${url}:pause`, undefined, as(other)), 404, 'not_found');
  assertError(await request({ method: 'DELETE', url, headers: as(other) }), 404, 'not_found');
  assert.equal((await get(url, as(reader))).statusCode, 200);
  assertError(await post(URL, { workflowId: 'three', cron: '@daily' }, as(reader)), 403, 'forbidden');
});
