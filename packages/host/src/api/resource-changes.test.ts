import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FEED_KEPT_MS } from '@gantry/store';
import { apiTest, assertError } from './testing/api-test.ts';

const HOST = '/v1/host/gantry';
const START = Date.parse('2027-01-01T00:00:30Z');

async function setUp(t: TestContext) {
  const clock = { at: START };
  const api = await apiTest(t, { now: () => clock.at });
  const changes = async (path: string, after: number, limit = 100) => {
    const response = await api.get(`${HOST}/${path}/changes?after=${after}&limit=${limit}`);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const begin = async (path: string): Promise<number> =>
    (await api.get(`${HOST}/${path}/changes`)).json().next;
  const made = async (path: string, body: object) => {
    const response = await api.post(`${HOST}/${path}`, body);
    assert.equal(response.statusCode, 201, response.body);
    return response.json();
  };
  return { ...api, clock, changes, begin, made };
}

test('changes of one resource are listed in order, without content, and go on where a page ended', async (t) => {
  const { changes, begin, made, post, request } = await setUp(t);
  const start = await begin('schedules');
  const { scheduleId: id } = await made('schedules', { workflowId: 'three', cron: '0 9 * * *' });
  await made('connectors', { connectorId: 'hook', type: 'http', url: 'https://example.com/' });
  await post(`${HOST}/schedules/${id}:pause`, {});
  await request({ method: 'DELETE', url: `${HOST}/schedules/${id}` });

  const whole = await changes('schedules', start);
  const at = new Date(START).toISOString();
  const [{ actor }] = whole.changes;
  assert.match(actor, /./);
  assert.deepEqual(whole.changes, [
    { id, version: 1, op: 'create', actor, at },
    { id, version: 2, op: 'update', actor, at },
    { id, version: 2, op: 'delete', actor, at },
  ]);
  const paged: unknown[] = [];
  for (let next = start, more = true; more; ) {
    const page = await changes('schedules', next, 2);
    paged.push(...page.changes);
    more = page.next > next;
    next = page.next;
  }
  assert.deepEqual(paged, whole.changes);
  const [hook, ...others] = (await changes('connectors', start)).changes;
  assert.deepEqual([hook.id, hook.op, others], ['hook', 'create', []]);
  assert.deepEqual((await changes('schedules', whole.next)).changes, []);
});

test('a tenant sees its own changes only, and a key without the scope none', async (t) => {
  const { post, get, begin, made } = await setUp(t);
  const keyFor = async (tenant: string, scopes: string[]): Promise<string> =>
    (await post(`${HOST}/keys`, { name: tenant, tenant, scopes })).json().key;
  const start = await begin('schedules');
  await made('schedules', { workflowId: 'three', cron: '0 9 * * *' });
  const url = `${HOST}/schedules/changes?after=${start}`;
  const other = await keyFor('other-tenant', ['runs:read']);
  assert.deepEqual((await get(url, { authorization: `Bearer ${other}` })).json().changes, []);
  const narrow = await keyFor('default', ['packs:read']);
  assertError(await get(url, { authorization: `Bearer ${narrow}` }), 403, 'forbidden');
});

test('a number that is none, or from the future, is refused; one that is too old says where to begin', async (t) => {
  const { get, begin, made, clock, changes } = await setUp(t);
  await made('schedules', { workflowId: 'three', cron: '0 9 * * *' });
  const last = await begin('schedules');
  const read = (after: string) => get(`${HOST}/schedules/changes?after=${after}`);
  for (const bad of ['x', '-1', '1.5', '']) assertError(await read(bad), 400, 'validation_error');
  const future = await read(String(last + 1));
  assertError(future, 400, 'validation_error');
  assert.equal(future.json().message, `There is no change ${last + 1} yet; the last one is ${last}.`);
  clock.at += FEED_KEPT_MS + 1;
  assertError(await read('0'), 410, 'cursor_expired', { last });
  assert.deepEqual((await changes('schedules', last)).changes, []);
});

test('the id that is the path of the feed cannot be chosen', async (t) => {
  const { post } = await setUp(t);
  const body = { connectorId: 'changes', type: 'http', url: 'https://example.com/' };
  const refused = await post(`${HOST}/connectors`, body);
  assertError(refused, 400, 'validation_error');
  assert.equal(refused.json().message, 'The id "changes" is reserved. Choose another.');
});
