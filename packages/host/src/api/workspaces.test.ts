/** Keys of a workspace: what is made with them belongs to it, also when a clock or an event makes it. */
import assert from 'node:assert/strict';
import type { JsonObject, NewKey } from '@gantry/protocol';
import { onEachDatabase } from '../testing/each-database.ts';
import { signed } from '../triggers/testing/triggers-test.ts';
import { type ApiTest, apiTest, assertError, three } from './testing/api-test.ts';

const KEYS = '/v1/host/gantry/keys';
const CREDENTIALS = '/v1/host/gantry/credentials';
const SCOPES = [
  'keys:manage',
  'workflows:write',
  'runs:create',
  'runs:read',
  'credentials:manage',
  'webhooks:manage',
];

type Headers = Record<string, string>;
const bearer = ({ key }: NewKey): Headers => ({ authorization: `Bearer ${key}` });

async function newKey(api: ApiTest, workspace?: string, by: Headers = {}): Promise<NewKey> {
  const made = await api.post(KEYS, { name: 'person', scopes: SCOPES, ...(workspace && { workspace }) }, by);
  assert.equal(made.statusCode, 201, made.body);
  return made.json();
}

async function made(api: ApiTest, url: string, body: object, by: Headers): Promise<JsonObject> {
  const answer = await api.post(url, body, by);
  assert.equal(answer.statusCode, 201, answer.body);
  return answer.json();
}

const ownerOf = async (api: ApiTest, runId: unknown) => (await api.get(`/v1/runs/${runId}`)).json().owner;

async function ownsRuns(api: ApiTest): Promise<void> {
  const key = await newKey(api, 'finance');
  const owner = { tenant: 'default', workspace: 'finance', principal: key.principal };
  const { runId } = await made(api, '/v1/runs', { workflowId: 'three' }, bearer(key));
  assert.deepEqual(await ownerOf(api, runId), owner);
  const fork = { mode: 'branch', fromSeq: 1 };
  const forked = await made(api, `/v1/runs/${runId}:fork`, fork, bearer(key));
  assert.deepEqual(await ownerOf(api, forked.runId), owner);
  const plain = await newKey(api);
  const own = await made(api, '/v1/runs', { workflowId: 'three' }, bearer(plain));
  assert.deepEqual(await ownerOf(api, own.runId), { tenant: 'default', principal: plain.principal });
}

/** Waits for the first run that this started. */
async function runOf(api: ApiTest, workflowId: string): Promise<unknown> {
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    const { runs } = (await api.get(`/v1/runs?workflowId=${workflowId}`)).json();
    if (runs.length > 0) return runs[0].runId;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`no run of ${workflowId}`);
}

async function ownsWhatStartsLater(api: ApiTest): Promise<void> {
  const { schedules, heartbeats } = api.host.services;
  const key = await newKey(api, 'finance');
  const owner = { tenant: 'default', workspace: 'finance', principal: key.principal };
  for (const id of ['scheduled', 'beaten', 'triggered']) await api.registered({ ...three, id });
  const schedule = { workflowId: 'scheduled', cron: '0 0 1 1 *' };
  const { scheduleId } = await made(api, '/v1/host/gantry/schedules', schedule, bearer(key));
  const inAYear = Date.now() + 366 * 86_400_000;
  assert.ok((await schedules.fireAt({ tenant: 'default', id: String(scheduleId) }, inAYear)) > 0);
  assert.deepEqual(await ownerOf(api, await runOf(api, 'scheduled')), owner);

  const heartbeat = { workflowId: 'beaten', intervalSec: 86_400, maxRuntimeMs: 30_000 };
  const { heartbeatId } = await made(api, '/v1/host/gantry/heartbeats', heartbeat, bearer(key));
  await heartbeats.evaluate({ tenant: 'default', id: String(heartbeatId) });
  assert.deepEqual(await ownerOf(api, await runOf(api, 'beaten')), owner);

  const subscribe = { source: 'webhook', workflowId: 'triggered' };
  const { binding } = await made(api, '/v1/trigger-subscriptions', subscribe, bearer(key));
  const { ingestUrl, secret } = binding as { ingestUrl: string; secret: string };
  const sent = await api.post(new URL(ingestUrl).pathname, {}, signed(secret, '{}', Date.now()));
  assert.equal(sent.statusCode, 202, sent.body);
  assert.deepEqual(await ownerOf(api, await runOf(api, 'triggered')), owner);
}

async function sharesCredentials(api: ApiTest): Promise<void> {
  const [one, two, other] = [await newKey(api, 'finance'), await newKey(api, 'finance'), await newKey(api)];
  const body = { ref: 'ours', kind: 'bearer', scope: 'workspace', audiences: ['api.example'], value: 'sk_1' };
  await made(api, CREDENTIALS, body, bearer(one));
  assert.equal((await api.get(`${CREDENTIALS}/ours`, bearer(two))).statusCode, 200);
  assertError(await api.get(`${CREDENTIALS}/ours`, bearer(other)), 403, 'credential_forbidden');
}

async function givesItsOwn(api: ApiTest): Promise<void> {
  const key = await newKey(api, 'legal');
  assert.equal(key.workspace, 'legal');
  assert.equal((await newKey(api)).workspace, 'default');
  assert.equal((await newKey(api, undefined, bearer(key))).workspace, 'legal');
  for (const workspace of ['finance', 'default']) {
    const refused = await api.post(KEYS, { name: 'x', scopes: ['runs:read'], workspace }, bearer(key));
    assertError(refused, 403, 'forbidden');
    assert.equal(refused.json().details.scopeRequired, 'host:admin');
  }
  assertError(
    await api.post(KEYS, { name: 'x', scopes: ['runs:read'], workspace: '' }),
    400,
    'validation_error',
  );
  const elsewhere = await newKey(api, 'finance');
  const listed = (await api.get(KEYS, bearer(key))).json().keys as NewKey[];
  assert.deepEqual([...new Set(listed.map(({ workspace }) => workspace))], ['legal']);
  assertError(await api.post(`${KEYS}/${elsewhere.keyId}/rotate`, {}, bearer(key)), 404, 'not_found');
  const revoked = await api.request({
    method: 'DELETE',
    url: `${KEYS}/${elsewhere.keyId}`,
    headers: bearer(key),
  });
  assertError(revoked, 404, 'not_found');
  const rotated = await api.post(`${KEYS}/${key.keyId}/rotate`, {}, bearer(key));
  assert.equal(rotated.json().workspace, 'legal');
}

/** The definition would act with the credentials of a workspace that its author has no key of. */
async function startsOnlyItsOwn(api: ApiTest): Promise<void> {
  const [author, other] = [await newKey(api, 'finance'), await newKey(api, 'legal')];
  const definition = { ...three, id: 'ours' };
  await made(api, '/v1/host/gantry/workflows', definition, bearer(author));
  const schedule = { workflowId: 'ours', cron: '0 0 1 1 *' };
  const refused = await api.post('/v1/host/gantry/schedules', schedule, bearer(other));
  assertError(refused, 403, 'forbidden');
  assert.match(refused.json().message, /registered by a key of workspace finance/);
  await made(api, '/v1/host/gantry/schedules', schedule, bearer(author));
  await made(api, '/v1/host/gantry/workflows', definition, bearer(other));
  await made(api, '/v1/host/gantry/schedules', schedule, bearer(author));
  await made(api, '/v1/runs', { workflowId: 'ours' }, bearer(other));
}

const TESTS = {
  'runs and forks belong to the workspace of the key': ownsRuns,
  'runs of its schedules, heartbeats and triggers do too': ownsWhatStartsLater,
  'a definition of another workspace starts nothing unattended': startsOnlyItsOwn,
  'credentials of a workspace are those of its keys': sharesCredentials,
  'without host:admin a key gives and sees only keys of its workspace': givesItsOwn,
};

onEachDatabase('keys of workspaces', async (t, settings) => {
  const api = await apiTest(t, { settings });
  for (const [name, run] of Object.entries(TESTS)) await t.test(name, () => run(api));
});
