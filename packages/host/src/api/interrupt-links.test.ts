import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InterruptLink, JsonObject } from '@gantry/protocol';
import type { LightMyRequestResponse } from 'fastify';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { LOCAL_RECEIVERS, receiver } from '../webhooks/testing/receiver.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const ORIGIN = 'https://gantry.example/base';
const DAY = 86_400_000;
const ACCEPT = { resumeValue: { action: 'accept' } };

const gate = (id: string, config: JsonObject) => workflow(id, [node('gate', 'core.approvalGate', config)]);
const WORKFLOWS = [
  gate('two', { title: 'Spend <b>much</b>?', requiredApprovals: 2, artifactData: { amount: 3 } }),
  gate('named', {
    approversList: ['ada', 'bob', 'principal_000000000000000000000000'],
    requiredApprovals: 2,
  }),
  gate('brief', { timeoutMs: 3_600_000, audience: { subjects: ['eve'] } }),
  gate('strict', { profile: 'openwop-interrupt-auth-required', audience: { subjects: ['eve'] } }),
  gate('every', { actions: ['accept', 'reject', 'refine', 'edit-accept', 'ask'], artifactData: { n: 1 } }),
  workflow('form', [
    node('gate', 'core.clarificationGate', {
      questions: [
        { id: 'city', question: 'Which city?', schema: { type: 'string' } },
        { id: 'days', question: 'How many days?', schema: { type: 'integer' } },
        { id: 'train', question: 'By train?', schema: { type: 'boolean' } },
      ],
    }),
  ]),
];

let clock = Date.now();
const shared = onePerFile(async (life) => {
  const settings = { publicUrl: ORIGIN, egressAllow: LOCAL_RECEIVERS };
  const api = await apiTest(life, { workflows: WORKFLOWS, settings, now: () => clock });
  const bare = (
    method: 'GET' | 'POST',
    url: string,
    headers: Record<string, string> = {},
    payload?: string | object,
  ): Promise<LightMyRequestResponse> =>
    api.host.app.inject({ method, url: url.replace(ORIGIN, ''), headers, ...(payload && { payload }) });
  const link = (runId: string, person: string, headers = {}): Promise<LightMyRequestResponse> =>
    api.post(`/v1/host/gantry/runs/${runId}/interrupts/gate/links`, { person }, headers);
  return {
    ...api,
    bare,
    link,
    async linked(runId: string, person: string): Promise<InterruptLink> {
      const made = await link(runId, person);
      assert.equal(made.statusCode, 201, made.body);
      return made.json();
    },
    browse: (url: string) => bare('GET', url, { accept: 'text/html,*/*;q=0.8' }),
    submit: (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      bare(
        'POST',
        url,
        { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    statusOf: async (runId: string): Promise<string> => (await api.get(`/v1/runs/${runId}`)).json().status,
    async key(...scopes: string[]): Promise<Record<string, string>> {
      const made = await api.post('/v1/host/gantry/keys', { name: 'k', scopes });
      return { authorization: `Bearer ${made.json().key}` };
    },
  };
});

test('two links are two voters; the same link again changes nothing and says so', async () => {
  const api = await shared();
  const runId = await api.start('two');
  const [ada, bob] = [await api.linked(runId, 'ada'), await api.linked(runId, 'bob@example.org')];
  assert.ok(ada.url.startsWith(`${ORIGIN}/v1/interrupts/`), ada.url);
  const first = (await api.bare('POST', ada.url, {}, ACCEPT)).json();
  const votes = { granted: 1, rejected: 0, required: 2 };
  assert.deepEqual(first, { runId, nodeId: 'gate', status: 'waiting-approval', votes });
  assert.deepEqual((await api.bare('POST', ada.url, {}, ACCEPT)).json(), { ...first, changed: false });
  // A key beside the link does not turn it into another voter
  const withKey = await api.bare('POST', ada.url, await api.key('approvals:respond'), ACCEPT);
  assert.equal(withKey.json().changed, false);
  const turned = await api.bare('POST', ada.url, {}, { resumeValue: { action: 'reject' } });
  assertError(turned, 409, 'conflict');
  const sameKey = { 'idempotency-key': 'vote' };
  assert.equal((await api.bare('POST', bob.url, sameKey, ACCEPT)).json().status, 'completed');
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  const voters = events.flatMap(({ type, payload }: { type: string; payload: JsonObject }) =>
    type === 'approval.granted' ? [payload.principal] : [],
  );
  assert.deepEqual(voters, ['ada', 'bob@example.org']);
});

test('a rejection on the page keeps the reason and the person, also in a quorum', async () => {
  const api = await shared();
  const runId = await api.start('two');
  const [ada, bob] = [await api.linked(runId, 'ada'), await api.linked(runId, 'bob')];
  assert.equal((await api.submit(ada.url, { action: 'accept', text: 'within budget' })).statusCode, 200);
  const shown = (await api.browse(bob.url)).body;
  assert.match(shown, /ada approves \(&quot;within budget&quot;\)/);
  assert.match(shown, /<pre tabindex="0">amount: 3<\/pre>/);
  assert.equal((await api.submit(bob.url, { action: 'reject', text: 'too much' })).statusCode, 200);
  const message = 'The approval was rejected by bob ("too much").';
  const { error } = (await api.get(`/v1/runs/${runId}`)).json();
  assert.equal(error.message, message);
  assert.deepEqual(error.details.rejections, [{ by: 'bob', reason: 'too much' }]);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  const failed = events.find(({ type }: { type: string }) => type === 'run.failed');
  assert.equal(failed.payload.error.message, message);
  const explained = (await api.get(`/v1/host/gantry/runs/${runId}/explain`)).json();
  assert.match(explained.summary, /rejected by bob \("too much"\)/);
});

test('links are for people whose answer would count, made by keys with a scope of their own', async () => {
  const api = await shared();
  const runId = await api.start('named');
  assertError(
    await api.link(runId, 'ada', await api.key('approvals:respond', 'runs:read')),
    403,
    'forbidden',
  );
  const stranger = await api.link(runId, 'eve');
  assertError(stranger, 403, 'forbidden');
  assert.match(stranger.json().message, /A link for eve could not answer: .*approvers/);
  // A link never counts as a key, though the gate names one
  for (const person of [
    'principal_000000000000000000000000',
    'token:x',
    'host:timeout',
    'k/ada',
    ' ada',
    'a\u202eda',
  ])
    assertError(await api.link(runId, person), 400, 'validation_error');
  assert.equal((await api.link(runId, 'ada', await api.key('approvals:link'))).statusCode, 201);
  assertError(await api.link(await api.start('strict'), 'ada'), 401, 'unauthenticated');
  assertError(await api.link('run_none', 'ada'), 404, 'interrupt_not_found');
});

test('a link that was taken back answers no more; one that is made later does', async () => {
  const { start, linked, bare, request, browse, link, post } = await shared();
  const runId = await start('two');
  const [ada, bob] = [await linked(runId, 'ada'), await linked(runId, 'bob')];
  const url = `/v1/host/gantry/runs/${runId}/interrupts/gate/links/ada`;
  const plain = { name: 'plain', scopes: ['runs:read', 'approvals:respond'] };
  const { key } = (await post('/v1/host/gantry/keys', plain)).json();
  const headers = { authorization: `Bearer ${key}` };
  assertError(await request({ method: 'DELETE', url, headers }), 403, 'forbidden');
  for (const _ of ['once', 'again']) assert.equal((await request({ method: 'DELETE', url })).statusCode, 204);
  const answer = await bare('POST', ada.url, {}, ACCEPT);
  assertError(answer, 410, 'interrupt_expired');
  assert.match(answer.json().message, /was withdrawn/);
  assert.equal((await browse(ada.url)).statusCode, 410);
  clock++;
  assert.equal((await bare('POST', (await link(runId, 'ada')).json().url, {}, ACCEPT)).statusCode, 200);
  assert.equal((await bare('POST', bob.url, {}, ACCEPT)).statusCode, 200, 'others keep theirs');
  assertError(await request({ method: 'DELETE', url }), 409, 'interrupt_already_resolved');
});

test('a link ends with the deadline of its gate, and after a week where there is none', async () => {
  const api = await shared();
  const [brief, two] = [await api.start('brief'), await api.start('two')];
  const { interrupt } = (await api.get(`/v1/runs/${brief}`)).json();
  const [soon, late] = [await api.linked(brief, 'ada'), await api.linked(two, 'ada')];
  assert.equal(soon.expiresAt, interrupt.deadline);
  assert.equal(Date.parse(late.expiresAt), clock + 7 * DAY);
  clock += 7 * DAY;
  assertError(await api.bare('GET', late.url), 410, 'interrupt_expired');
  assert.equal((await api.browse(late.url)).statusCode, 410);
});

test('the webhook of an interrupt brings a link for each person whom it names', async (t) => {
  const api = await shared();
  const { url, received, got } = await receiver(t);
  const events = ['interrupt.requested'];
  const scopes = ['webhooks:manage', 'approvals:link'] as const;
  const subscribe = async (body: object, headers: Record<string, string>): Promise<string> =>
    (await api.post('/v1/webhooks', { url, ...body }, headers)).json().webhookId;
  const told = await subscribe({ events }, await api.key(...scopes));
  await subscribe({ events }, await api.key('webhooks:manage'));
  await subscribe({ events: ['interrupt.*'] }, await api.key(...scopes));
  const { webhooks } = (await api.get('/v1/webhooks')).json();
  const linked = webhooks.filter(({ interruptLinks }: JsonObject) => interruptLinks === true);
  assert.deepEqual(
    linked.map(({ webhookId }: JsonObject) => webhookId),
    [told],
  );

  const runIds = [await api.start('named'), await api.start('brief'), await api.start('strict')];
  await got(9);
  const bodies = received.map(({ body }) => JSON.parse(body));
  const [named, brief] = runIds.slice(0, 2).map((runId) => {
    const [found, ...more] = bodies.filter((body) => body.runId === runId && body.links);
    assert.deepEqual(more, []);
    return found.links as InterruptLink[];
  });
  assert.deepEqual(
    [named?.map(({ person }) => person), brief?.map(({ person }) => person)],
    [['ada', 'bob'], ['eve']],
  );
  assert.ok(
    !bodies.some((body) => body.runId === runIds[2] && body.links),
    'a gate that needs a key has none',
  );
  for (const { url } of named ?? []) assert.equal((await api.bare('POST', url, {}, ACCEPT)).statusCode, 200);
  assert.equal(await api.statusOf(runIds[0]!), 'completed');
});

test('a browser gets a page without script, which looking at does not answer', async () => {
  const api = await shared();
  const runId = await api.start('two');
  const { url } = await api.linked(runId, 'ada');
  const shown = await api.browse(url);
  assert.equal(shown.statusCode, 200);
  assert.match(String(shown.headers['content-type']), /^text\/html/);
  assert.match(
    String(shown.headers['content-security-policy']),
    /default-src 'none'.*frame-ancestors 'none'/,
  );
  assert.deepEqual(
    ['cache-control', 'referrer-policy', 'vary'].map((name) => shown.headers[name]),
    ['no-store', 'no-referrer', 'Accept'],
  );
  assert.match(shown.body, /Spend &lt;b&gt;much&lt;\/b&gt;\?/);
  assert.match(shown.body, /0 of 2/);
  assert.doesNotMatch(shown.body, /<script|https?:/);
  assert.equal(await api.statusOf(runId), 'waiting-approval');
  assert.equal((await api.bare('GET', url)).json().data.title, 'Spend <b>much</b>?');

  for (const foreign of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }])
    assert.equal((await api.submit(url, { action: 'accept' }, foreign)).statusCode, 403);
  const own = { 'sec-fetch-site': 'same-origin' };
  const counted = await api.submit(url, { action: 'accept', text: 'fine' }, own);
  assert.deepEqual([counted.statusCode, /1 of 2 approvals/.test(counted.body)], [200, true], counted.body);
  assert.match((await api.submit(url, { action: 'accept' })).body, /Nothing changed/);
  assert.match((await api.browse(url)).body, /You have approved this/);
  const bob = await api.linked(runId, 'bob');
  assert.match((await api.submit(bob.url, { action: 'accept' })).body, /is completed/);
  const late = await api.browse(url);
  assert.deepEqual([late.statusCode, /answered already/.test(late.body)], [409, true]);
  assert.equal((await api.browse(`${ORIGIN}/v1/interrupts/tok_x`)).statusCode, 404);
});

test('what does not fit is said on the page, with what was typed; every action has its field', async () => {
  const api = await shared();
  const asked = await api.start('every');
  const { url } = await api.linked(asked, 'ada');
  for (const [fields, problem] of [
    [{ action: 'edit-accept', text: 'typed before', edited: '{"n":' }, /not valid JSON/],
    [{ action: 'edit-accept', text: 'typed before', edited: '{"n":12345678901234567890}' }, /\/n /],
    [{ action: 'refine', text: '' }, /needs/],
    [{ text: 'typed before' }, /action/],
  ] as const) {
    const refused = await api.submit(url, fields);
    assert.deepEqual([refused.statusCode, problem.test(refused.body)], [400, true], refused.body);
    assert.equal(refused.body.includes('typed before'), fields.text !== '');
  }
  assert.equal((await api.submit(url, { action: 'ask', text: 'why?' })).statusCode, 200);
  const edited = await api.submit(url, { action: 'edit-accept', text: 'less', edited: '{"n":2}' });
  assert.equal(edited.statusCode, 200, edited.body);
  const { variables, status } = (await api.get(`/v1/runs/${asked}`)).json();
  assert.equal(variables['_askExchanges:gate'][0].question, 'why?');
  assert.equal(status, 'completed');

  const form = await api.start('form');
  const clarify = await api.linked(form, 'ada');
  assert.match((await api.browse(clarify.url)).body, /How many days\?/);
  const wrong = { 'answer-0': '8000', 'answer-1': 'many', 'answer-2': '0' };
  assert.equal((await api.submit(clarify.url, wrong)).statusCode, 400);
  assert.equal((await api.submit(clarify.url, { ...wrong, 'answer-1': '7' })).statusCode, 200);
  const { events } = (await api.get(`/v1/runs/${form}/events/poll`)).json();
  const resolved = events.find(({ type }: JsonObject) => type === 'clarification.resolved');
  assert.deepEqual(resolved.payload.answers, { city: '8000', days: 7, train: true });
  assert.equal(resolved.payload.answeredBy, 'ada');
});
