/** Who a run acts as: the caller that asked for it, as long as a key of that caller is valid. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject, NewKey } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { type ApiTest, apiTest, assertError, three } from './testing/api-test.ts';

const SCOPES = ['runs:create', 'runs:read', 'workflows:write', 'credentials:manage'];
/** Its id, and those of its workflows, let a node read it without a pack. */
const MINE = 'conformance-mine';
const reads = (id: string, secretId = MINE) => node(id, 'conformance.secret.echo', { secretId });
const FAILS = workflow('conformance-pay', [
  reads('read'),
  node('pay', 'core.fail', {}, { settings: { maxRetries: 1, backoffMs: 0 } }),
]);
const ENDS = ['revoked', 'expired', 'rotated'] as const;
const asks = (ref: string) =>
  workflow(`conformance-ask-${ref}`, [
    node('gate', 'core.approvalGate', { title: 'Go on?' }),
    reads('read', `${MINE}-${ref}`),
  ]);

interface Person extends NewKey {
  send(url: string, body: object): Promise<Answer>;
  post(url: string, body: object): Promise<JsonObject>;
}
type Answer = Awaited<ReturnType<ApiTest['get']>>;

async function person(api: ApiTest, name: string, scopes = SCOPES): Promise<Person> {
  const key = await api.post('/v1/host/gantry/keys', { name, scopes });
  assert.equal(key.statusCode, 201, key.body);
  const made: NewKey = key.json();
  const send: Person['send'] = (url, body) => api.post(url, body, { authorization: `Bearer ${made.key}` });
  return {
    ...made,
    send,
    async post(url, body) {
      const answer = await send(url, body);
      assert.equal(answer.statusCode, 201, answer.body);
      return answer.json();
    },
  };
}

/** The owner of an ended run, and the code of its error. */
async function endOf(api: ApiTest, started: JsonObject): Promise<unknown[]> {
  const { owner, error } = await api.ended(String(started.runId));
  return [Object(owner).principal, Object(error).code];
}

const credential = { ref: MINE, scope: 'user', audiences: ['api.test'], value: 'sk_live_0123456789' };

onEachDatabase('a fork, repair and retry of a run act as their caller', async (t, settings) => {
  const api = await apiTest(t, { settings, workflows: [FAILS] });
  const [ann, bob] = [await person(api, 'ann'), await person(api, 'bob')];
  await ann.post('/v1/host/gantry/credentials', credential);
  const start = async (): Promise<string> =>
    String((await ann.post('/v1/runs', { workflowId: FAILS.id })).runId);
  const runId = await start();
  assert.deepEqual(await endOf(api, { runId }), [ann.principal, 'conformance_test_failure']);
  const refused = [bob.principal, 'secret_access_denied'];
  const branch = { mode: 'branch', fromSeq: 0 };
  assert.deepEqual(await endOf(api, await bob.post(`/v1/runs/${runId}:fork`, branch)), refused);
  const own = await ann.post(`/v1/runs/${runId}:fork`, branch);
  assert.deepEqual(await endOf(api, own), [ann.principal, 'conformance_test_failure']);
  const replay = await bob.post(`/v1/runs/${runId}:fork`, { mode: 'replay' });
  assert.deepEqual(await endOf(api, replay), [bob.principal, 'conformance_test_failure']);

  await bob.post('/v1/host/gantry/workflows', {
    ...FAILS,
    version: '2.0.0',
    nodes: [reads('read'), reads('pay')],
  });
  const repaired = await bob.post(`/v1/host/gantry/runs/${runId}:repair`, {});
  assert.deepEqual(await endOf(api, repaired), refused);
  assert.equal(repaired.sourceRunId, runId);
  const { deadLetters } = (await api.get('/v1/host/gantry/dead-letters')).json();
  const { deadLetterId } = deadLetters.find((letter: JsonObject) => letter.runId === runId);
  const retried = await bob.send(`/v1/host/gantry/dead-letters/${deadLetterId}:retry`, {});
  assert.deepEqual(
    await endOf(api, retried.json()),
    [bob.principal, 'conformance_test_failure'],
    retried.body,
  );
});

onEachDatabase('a run under way has no credential of an owner whose keys have ended', async (t, settings) => {
  const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
  const api = await apiTest(t, { settings, workflows: ENDS.map(asks), now: () => clock.at });
  const answered = async (run: JsonObject): Promise<JsonObject> => {
    const accept = { resumeValue: { action: 'accept' } };
    const answer = await api.post(`/v1/runs/${run.runId}/interrupts/gate`, accept);
    assert.equal(answer.statusCode, 200, answer.body);
    return api.ended(String(run.runId));
  };
  for (const end of ENDS) {
    const ask = { workflowId: asks(end).id };
    const ann = await person(api, end);
    await ann.post('/v1/host/gantry/credentials', { ...credential, ref: `${MINE}-${end}` });
    const [first, second] = [await ann.post('/v1/runs', ask), await ann.post('/v1/runs', ask)];
    assert.equal((await answered(first)).status, 'completed');
    const url = `/v1/host/gantry/keys/${ann.keyId}`;
    if (end === 'revoked') assert.equal((await api.request({ method: 'DELETE', url })).statusCode, 200);
    else await api.post(`${url}/rotate`, { graceSeconds: 1 });
    clock.at += 1_000;
    if (end === 'expired') {
      const { keys } = (await api.get('/v1/host/gantry/keys')).json();
      const successor = keys.find(
        (key: NewKey) => key.principal === ann.principal && key.keyId !== ann.keyId,
      );
      await api.request({ method: 'DELETE', url: `/v1/host/gantry/keys/${successor.keyId}` });
    }
    const { error } = await answered(second);
    if (end === 'rotated') assert.equal(error, undefined);
    else {
      assert.equal(Object(error).code, 'secret_access_denied');
      assert.match(Object(error).message, /every key of that principal has expired or was revoked/);
    }
  }
});

onEachDatabase(
  'schedules and triggers start what somebody with their rights has registered',
  async (t, settings) => {
    const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
    const api = await apiTest(t, { settings, now: () => clock.at });
    const { schedules, heartbeats, triggers } = api.host.services;
    const more = [...SCOPES, 'webhooks:manage'];
    const [ann, bob, eve] = [
      await person(api, 'ann', more),
      await person(api, 'bob'),
      await person(api, 'eve', more),
    ];
    const register = (by: Person, version: string) =>
      by.post('/v1/host/gantry/workflows', { ...three, id: 'job', version });
    const starting = { workflowId: 'job' };
    await register(bob, '1.0.0');
    for (const [url, body] of [
      ['/v1/host/gantry/schedules', { ...starting, cron: '* * * * *' }],
      ['/v1/host/gantry/heartbeats', { ...starting, intervalSec: 60 }],
      ['/v1/trigger-subscriptions', { ...starting, source: 'webhook' }],
    ] as const)
      assertError(await ann.send(url, body), 403, 'forbidden', { missingScopes: ['webhooks:manage'] });
    await register(ann, '1.1.0');
    const { scheduleId } = await ann.post('/v1/host/gantry/schedules', { ...starting, cron: '* * * * *' });
    const { heartbeatId } = await ann.post('/v1/host/gantry/heartbeats', { ...starting, intervalSec: 60 });
    const { subscription } = await ann.post('/v1/trigger-subscriptions', {
      ...starting,
      source: 'webhook',
      verification: { mode: 'none' },
    });
    const { subscriptionId } = subscription as JsonObject;
    const heartbeat = async () => (await api.get(`/v1/host/gantry/heartbeats/${heartbeatId}`)).json();
    const passed = async (): Promise<number> => {
      clock.at += 60_000;
      const event = { url: `/v1/ingest/${subscriptionId}`, payload: { n: clock.at } };
      await api.host.app.inject({ method: 'POST', ...event });
      for (const each of [schedules, heartbeats, triggers]) await each.tick();
      while ((await heartbeat()).evaluatingRunId !== undefined) await new Promise(setImmediate);
      const { runs } = (await api.get('/v1/runs?workflowId=job&limit=200')).json();
      for (const { runId } of runs) {
        const { owner } = await api.ended(runId);
        assert.equal(Object(owner).principal, ann.principal);
      }
      return runs.length;
    };
    assert.equal(await passed(), 3);
    await register(eve, '1.2.0');
    assert.equal(await passed(), 6, 'a key with the same rights');
    await register(bob, '1.3.0');
    assert.equal(await passed(), 6, 'a key with fewer rights');
    const why = /Version 1\.3\.0 of job was registered by a key without webhooks:manage/;
    const { lastError } = (await api.get(`/v1/host/gantry/schedules/${scheduleId}`)).json();
    assert.deepEqual([lastError.code, lastError.failures], ['forbidden', 1]);
    assert.match(lastError.message, why);
    assert.match((await heartbeat()).lastTick.error.message, why);
    const { problem, deliveries } = (
      await api.get(`/v1/host/gantry/trigger-subscriptions/${subscriptionId}/deliveries`)
    ).json();
    assert.match(problem, why);
    assert.deepEqual([deliveries[0].state, deliveries[0].attempts], ['pending', 0]);
    assert.match((await api.get('/v1/host/gantry/trigger-subscriptions')).body, why);
    await register(eve, '1.3.0');
    await ann.send(`/v1/host/gantry/trigger-subscriptions/${subscriptionId}:resume`, {});
    assert.equal(await passed(), 10, 'registered again by a key with the same rights; the event had waited');
    assert.equal((await bob.send('/v1/runs', starting)).statusCode, 201, 'a run of his own');
  },
);

onEachDatabase(
  'a credential of a run serves its children and theirs, and no other run',
  async (t, settings) => {
    const nested = (id: string, workflowId: string) =>
      workflow(id, [node('child', 'core.subWorkflow', { workflowId })]);
    const leaf = workflow('conformance-leaf', [reads('read')]);
    const gated = workflow('gated', [
      node('gate', 'core.approvalGate', { title: 'Go on?' }),
      node('child', 'core.subWorkflow', { workflowId: 'middle' }),
    ]);
    const workflows = [leaf, nested('middle', leaf.id), gated];
    const api = await apiTest(t, { settings, workflows });
    const ann = await person(api, 'ann', [...SCOPES, 'approvals:respond']);
    const runIds: string[] = [];
    for (const status of ['completed', 'failed']) {
      const runId = String((await ann.post('/v1/runs', { workflowId: 'gated' })).runId);
      const own = { ...credential, scope: 'run', runId };
      if (status === 'completed') await ann.post('/v1/host/gantry/credentials', own);
      const accept = { resumeValue: { action: 'accept' } };
      assert.equal((await ann.send(`/v1/runs/${runId}/interrupts/gate`, accept)).statusCode, 200);
      assert.equal((await api.ended(runId)).status, status);
      runIds.push(runId);
    }
    const { runs } = (await api.get(`/v1/runs?workflowId=${leaf.id}`)).json();
    assert.equal(runs.length, 2);
    const errors = await Promise.all(runs.map((run: JsonObject) => endOf(api, run)));
    assert.deepEqual(errors.map(([, code]) => code).sort(), ['secret_access_denied', undefined]);
  },
);

onEachDatabase('the model key of a principal is not sent after its key was revoked', async (t, settings) => {
  const sent: unknown[] = [];
  const answer = {
    id: 'c',
    model: 'm',
    created: 1,
    choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
  };
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await temporaryFolder();
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await folder.remove();
  });
  const { port } = server.address() as AddressInfo;
  const lab = { id: 'lab', url: `http://127.0.0.1:${port}/v1`, models: ['m'], credential: 'model' };
  await writeFile(`${folder.path}/ai.json`, JSON.stringify({ endpoints: [lab] }));
  const ask = { provider: 'lab', model: 'm', prompt: 'Hello' };
  const asking = workflow('asking', [
    node('gate', 'core.approvalGate', { title: 'Go on?' }),
    node('ask', 'core.ai.callPrompt', ask),
  ]);
  const api = await apiTest(t, {
    settings: { ...settings, ai: `${folder.path}/ai.json` },
    workflows: [asking],
  });
  const ann = await person(api, 'ann');
  const key = {
    ref: 'model',
    kind: 'bearer',
    scope: 'user',
    audiences: ['127.0.0.1'],
    value: 'sk_live_0123',
  };
  await ann.post('/v1/host/gantry/credentials', key);
  const begin = { workflowId: 'asking' };
  const runs = [await ann.post('/v1/runs', begin), await ann.post('/v1/runs', begin)];
  const ends: unknown[] = [];
  for (const { runId } of runs) {
    await api.post(`/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } });
    const { status, error } = await api.ended(String(runId));
    ends.push(status, Object(error).code);
    await api.request({ method: 'DELETE', url: `/v1/host/gantry/keys/${ann.keyId}` });
  }
  assert.deepEqual(ends, ['completed', undefined, 'failed', 'credential_unavailable']);
  assert.deepEqual(sent, ['Bearer sk_live_0123']);
});
