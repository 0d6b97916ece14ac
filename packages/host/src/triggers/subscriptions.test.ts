import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRIGGER_BRIDGE_CAPABILITY } from '@gantry/protocol';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { assertError, assertPublic } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { triggerIssues } from './definition-triggers.ts';
import { echo, signed, TENANT, triggersTest } from './testing/triggers-test.ts';

const URL = '/v1/trigger-subscriptions';

test('a subscription is shown without its secret, to its own tenant only', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  assert.match(binding.secret, /^[0-9a-f]{64}$/);
  assert.ok(binding.ingestUrl.endsWith(`/v1/ingest/${subscription.subscriptionId}`));
  const listed = await rig.request('GET', URL);
  const read = await rig.request('GET', `${URL}/${subscription.subscriptionId}`);
  assert.deepEqual(listed.json(), { subscriptions: [subscription] });
  assert.deepEqual(read.json(), subscription);
  assertPublic('trigger-subscription.schema.json', subscription);
  assert.ok(!(listed.body + read.body).includes(binding.secret));
  const kept = await rig.store.entries.list('trigger', TENANT, { limit: 10 });
  assert.ok(!JSON.stringify(kept).includes(binding.secret), 'sealed at rest');

  assert.deepEqual((await rig.request('GET', URL, undefined, 'other')).json(), { subscriptions: [] });
  assertError(
    await rig.request('GET', `${URL}/${subscription.subscriptionId}`, undefined, 'other'),
    404,
    'not_found',
  );
  assertError(
    await rig.request('DELETE', `${URL}/${subscription.subscriptionId}`, undefined, 'other'),
    404,
    'not_found',
  );
});

test('a path of the mapping that no event has is named in a warning', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(
    workflow('mapped', [node('a', 'core.noop')], { variables: [{ name: 'n', type: 'string' }] }),
  );
  const warned = async (source: string, path: string, more: object = {}) => {
    const body = { source, workflowId: 'mapped', inputMapping: { n: path }, ...more };
    const answer = await rig.request('POST', URL, body);
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.headers['gantry-warning'];
  };
  const head = (path: string) => `No event has "${path}", which inputMapping names (ignored).`;
  assert.equal(await warned('webhook', 'webhok.body.x'), `${head('webhok.body.x')} Did you mean webhook?`);
  assert.equal(await warned('form', 'body.x'), `${head('body.x')} Paths begin with form.`);
  const queue = { topic: 'orders' };
  assert.equal(await warned('queue', 'webhook.x', queue), `${head('webhook.x')} Paths begin with payload.`);
  for (const path of ['webhook.body.x', 'receivedAt']) assert.equal(await warned('webhook', path), undefined);
  assert.equal(await warned('queue', 'payload.id', queue), undefined);
});

test('what no event could start, or this host does not ingest, is refused', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(
    workflow('needy', [node('a', 'core.noop')], {
      variables: [{ name: 'n', type: 'number', required: true }],
    }),
  );
  const refused = async (body: object) => rig.request('POST', URL, body);
  assertError(await refused({ source: 'webhook', workflowId: 'nobody' }), 404, 'not_found');
  assertError(await refused({ source: 'webhook', workflowId: 'needy' }), 400, 'validation_error');
  const unknown = { n: 'webhook.body', m: 'webhook.body' };
  assertError(
    await refused({ source: 'webhook', workflowId: 'needy', inputMapping: unknown }),
    400,
    'validation_error',
  );
  const never: [object, RegExp][] = [
    [
      { source: 'webhook', inputMapping: { n: 'receivedAt' } },
      /n must be of type number, but receivedAt is of type string/,
    ],
    [
      { source: 'webhook', inputMapping: { n: 'payload.n' } },
      /no event has payload\.n; paths begin with webhook/,
    ],
    [
      { source: 'form', inputMapping: { n: 'form.fields' } },
      /n must be of type number, but form\.fields is of type object/,
    ],
    [{ source: 'queue', topic: 'in', inputMapping: { n: 'webhook.body' } }, /paths begin with payload/],
  ];
  for (const [body, problem] of never) {
    const answer = await refused({ workflowId: 'needy', ...body });
    assertError(answer, 400, 'validation_error');
    const [field] = answer.json().details.fields;
    assert.equal(field.field, 'body/inputMapping/n');
    assert.match(field.problem, problem);
  }
  assertError(await refused({ source: 'carrier', workflowId: 'needy' }), 400, 'validation_error');
  assertError(await refused({ source: 'webhook', workflowId: 'needy', extra: 1 }), 400, 'validation_error');
  assert.deepEqual((await rig.request('GET', URL)).json(), { subscriptions: [] });
});

test('after a rotation only the new secret counts', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  const rotate = `/v1/host/gantry/trigger-subscriptions/${subscription.subscriptionId}:rotate-secret`;
  const rotated = (await rig.request('POST', rotate, {})).json();
  assert.notEqual(rotated.secretFingerprint, binding.secretFingerprint);
  const send = (secret: string) => rig.send(binding.ingestUrl, '1', signed(secret, '1', rig.clock.at));
  assert.equal((await send(binding.secret)).statusCode, 401);
  assert.equal((await send(rotated.secret)).statusCode, 202);
});

test('webhook triggers of a definition are subscriptions that follow its versions', async (t) => {
  const rig = await triggersTest(t);
  const trigger = { id: 'hook', type: 'webhook' as const, config: { verification: { mode: 'none' } } };
  const hooked = { ...echo, triggers: [trigger, { id: 'off', type: 'webhook' as const, enabled: false }] };
  await rig.register(hooked);
  const list = async () => (await rig.request('GET', URL)).json().subscriptions;
  const [first, ...others] = await list();
  assert.deepEqual(others, []);
  const url = `http://host/v1/ingest/${first.subscriptionId}`;
  assert.equal((await rig.send(url, '{"issue":{"id":5}}')).statusCode, 202);
  assertError(await rig.request('DELETE', `${URL}/${first.subscriptionId}`), 409, 'conflict');

  const stricter = { ...trigger, config: { retryPolicy: { maxAttempts: 2 } } };
  await rig.register({ ...hooked, version: '2.0.0', triggers: [stricter] });
  const [second] = await list();
  assert.deepEqual(
    [second.subscriptionId, second.secretFingerprint, second.retryPolicy.maxAttempts],
    [first.subscriptionId, first.secretFingerprint, 2],
  );
  assert.equal((await rig.send(url, '1')).statusCode, 401, 'the new version asks for signatures');
  await rig.register({ ...hooked, version: '3.0.0', triggers: [] });
  assert.deepEqual(await list(), []);
  await rig.register(hooked, 'globex');
  assert.deepEqual(await list(), []);
});

test('triggers that cannot work are named', () => {
  const types = ['manual', 'event', 'webhook', 'channel-write', 'chat-message'] as const;
  const triggers = types.map((type) => ({ id: type, type, config: { inputMapping: { a: 1 } } }));
  const issues = triggerIssues({ ...echo, triggers });
  assert.deepEqual(
    issues.map(({ path, code }) => [path, code]),
    [
      ['/triggers/1/type', 'capability_required'],
      ['/triggers/2/config', 'validation_error'],
      ['/triggers/4/type', 'capability_required'],
    ],
  );
  const off = triggers.map((trigger) => ({ ...trigger, config: {}, enabled: false }));
  assert.deepEqual(triggerIssues({ ...echo, triggers: off }), []);
});

test('what is advertised fits the public schema', (t) => {
  const check = publicValidator('capabilities.schema.json#/properties/triggerBridge');
  if (!check) {
    t.skip('the public schemas are not at hand');
    return;
  }
  assert.deepEqual(check(TRIGGER_BRIDGE_CAPABILITY), []);
});
