/** Keys of one principal: what a rotation keeps, and who is somebody else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject, NewKey } from '@gantry/protocol';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type ApiTest, apiTest, assertError } from './testing/api-test.ts';

const KEYS = '/v1/host/gantry/keys';
const CREDENTIALS = '/v1/host/gantry/credentials';
const SCOPES = ['runs:create', 'runs:read', 'approvals:respond', 'credentials:manage', 'role:finance'];
const ACCEPT = { resumeValue: { action: 'accept' } };

const gate = (id: string, config: JsonObject) =>
  workflow(id, [node('gate', 'core.approvalGate', { requiredApprovals: 2, ...config })]);
const WORKFLOWS = [
  gate('two', {}),
  gate('distinct', { distinctVoters: true }),
  gate('named-by-key', { distinctVoters: false }),
  gate('finance', { approverRoleRefs: ['finance'] }),
];

type Headers = Record<string, string>;
const bearer = ({ key }: NewKey): Headers => ({ authorization: `Bearer ${key}` });

async function newKey(api: ApiTest): Promise<NewKey> {
  const made = await api.post(KEYS, { name: 'person', scopes: SCOPES });
  assert.equal(made.statusCode, 201, made.body);
  return made.json();
}

async function rotated(api: ApiTest, { keyId }: NewKey): Promise<NewKey> {
  const made = await api.post(`${KEYS}/${keyId}/rotate`, { graceSeconds: 86_400 });
  assert.equal(made.statusCode, 201, made.body);
  return made.json();
}

const vote = async (api: ApiTest, runId: string, key: NewKey): Promise<JsonObject> => {
  const answered = await api.post(`/v1/runs/${runId}/interrupts/gate`, ACCEPT, bearer(key));
  assert.equal(answered.statusCode, 200, answered.body);
  return answered.json();
};

async function keepsPrincipal(api: ApiTest): Promise<void> {
  const [old, other] = [await newKey(api), await newKey(api)];
  const next = await rotated(api, await rotated(api, old));
  assert.match(old.principal, /^principal_[0-9a-f]{24}$/);
  assert.equal(next.principal, old.principal);
  assert.notEqual(next.keyId, old.keyId);
  assert.notEqual(other.principal, old.principal);
  const { keys } = (await api.get(KEYS)).json();
  const listed = keys.filter(({ principal }: NewKey) => principal === old.principal);
  assert.equal(listed.length, 3);
}

async function hasOneVote(api: ApiTest): Promise<void> {
  for (const { id } of WORKFLOWS) {
    const [old, other] = [await newKey(api), await newKey(api)];
    const next = await rotated(api, old);
    const runId = await api.start(id);
    assert.equal((await vote(api, runId, old)).status, 'waiting-approval', id);
    const again = await vote(api, runId, next);
    assert.deepEqual([again.status, again.changed], ['waiting-approval', false], id);
    assert.equal((await vote(api, runId, other)).status, 'completed', id);
  }
}

async function namesNobodyElse(api: ApiTest): Promise<void> {
  const key = await newKey(api);
  const forAda = { resumeValue: { action: 'accept', voter: 'ada' } };
  const runId = await api.start('two');
  const answers = `/v1/runs/${runId}/interrupts/gate`;
  assertError(await api.post(answers, forAda, bearer(key)), 403, 'forbidden');
  assert.equal((await vote(api, runId, key)).status, 'waiting-approval');
  const { interrupt } = (await api.get(`/v1/runs/${runId}`, bearer(key))).json();
  const url = new URL(interrupt.callbackUrl, 'http://host').pathname;
  const tokenOnly = await api.host.app.inject({ method: 'POST', url, payload: ACCEPT });
  assertError(tokenOnly, 403, 'forbidden');
  const allowed = await api.start('named-by-key');
  const first = await api.post(`/v1/runs/${allowed}/interrupts/gate`, forAda, bearer(key));
  assert.equal(first.json().status, 'waiting-approval', first.body);
  assert.equal((await vote(api, allowed, key)).status, 'completed');
}

async function keepsCredentials(api: ApiTest): Promise<void> {
  const [old, other] = [await newKey(api), await newKey(api)];
  const body = { ref: 'mine', kind: 'bearer', scope: 'user', audiences: ['api.example'], value: 'sk_1' };
  const made = await api.post(CREDENTIALS, body, bearer(old));
  assert.equal(made.statusCode, 201, made.body);
  const next = await rotated(api, old);
  assert.equal((await api.get(`${CREDENTIALS}/mine`, bearer(next))).statusCode, 200);
  assert.equal((await api.get(`${CREDENTIALS}/mine`, bearer(other))).statusCode, 403);
}

async function ownsRuns(api: ApiTest): Promise<void> {
  const old = await newKey(api);
  const next = await rotated(api, old);
  for (const key of [old, next]) {
    const { runId } = (await api.post('/v1/runs', { workflowId: 'two' }, bearer(key))).json();
    assert.equal((await api.get(`/v1/runs/${runId}`)).json().owner?.principal, old.principal);
  }
}

/** Acts of this key, oldest first, without their ids and times. */
async function actsOf(api: ApiTest, keyId: string): Promise<JsonObject[]> {
  const { acts } = (await api.get('/v1/host/gantry/acts?limit=200')).json();
  return acts
    .filter((act: JsonObject) => act.keyId === keyId)
    .toReversed()
    .map(({ actId: _, ts: __, ...act }: JsonObject) => act);
}

async function isAudited(api: ApiTest): Promise<void> {
  const old = await newKey(api);
  const admin = (await api.get(KEYS)).json().keys.find((key: NewKey) => key.keyId === 'key_environment');
  const by = admin.principal;
  for (let uses = 0; uses < 3; uses++) await api.get('/v1/runs', bearer(old));
  const next = await rotated(api, old);
  for (let times = 0; times < 2; times++)
    await api.request({ method: 'DELETE', url: `${KEYS}/${old.keyId}` });
  assertError(await api.get('/v1/runs', bearer(old)), 401, 'key_revoked');
  const { keyId, principal } = old;
  while ((await actsOf(api, keyId)).length < 3) await api.get('/v1/runs');
  const acts = await actsOf(api, keyId);
  assert.deepEqual(acts.toSorted(byType), [
    { type: 'key.created', keyId, principal, by },
    { type: 'key.revoked', keyId, principal, by },
    { type: 'key.used', keyId, principal, by: principal },
  ]);
  assert.deepEqual(await actsOf(api, next.keyId), [
    { type: 'key.created', keyId: next.keyId, principal, by },
  ]);
  const ofAdmin = await actsOf(api, 'key_environment');
  assert.deepEqual(ofAdmin.map(({ type, by }) => `${type} ${by}`).sort(), [
    'key.created host',
    `key.used ${by}`,
  ]);
  const body = (await api.get('/v1/host/gantry/acts?limit=200')).body;
  for (const { key } of [old, next]) assert.ok(!body.includes(key));
}

const byType = (a: JsonObject, b: JsonObject): number => String(a.type).localeCompare(String(b.type));

const TESTS = {
  'a rotation keeps the principal, a new key has its own': keepsPrincipal,
  'the old and the new key have one vote in a quorum': hasOneVote,
  'one key is one voter, unless the gate lets it name others': namesNobodyElse,
  'credentials of scope user stay visible': keepsCredentials,
  'runs of both keys have one owner': ownsRuns,
  'an audit log has who made, used and revoked a key, without its secret': isAudited,
};

async function opened(t: TestContext, url: string | undefined): Promise<ApiTest> {
  const settings = url === undefined ? {} : { databaseUrl: url, masterKey: 'b'.repeat(64) };
  return apiTest(t, { workflows: WORKFLOWS, settings });
}

for (const database of ['SQLite', 'PostgreSQL'])
  test(`principals on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await freshDatabase() : undefined;
    if (fresh && 'skip' in fresh) {
      t.skip(fresh.skip);
      return;
    }
    const api = await opened(t, fresh?.url);
    if (fresh) t.after(fresh.drop);
    for (const [name, run] of Object.entries(TESTS)) await t.test(name, () => run(api));
  });
