/** What the OpenAPI document says of queues, held against what the host answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, OpenwopError, type TriggerSubscriptionCreated } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import { HOST_URL, type QueueTest, queueTest, seen, URL } from './testing/queue-test.ts';

async function answerOf({ get }: QueueTest, path: string, method: 'get' | 'post', status: number) {
  const { paths, components } = (await get('/v1/openapi.json')).json();
  return inlined(
    paths[path][method].responses[status].content['application/json'].schema,
    components.schemas,
  );
}

/** The schema without references. */
function inlined(schema: JsonObject, named: JsonObject): JsonObject {
  const text = JSON.stringify(schema, (_, value) => {
    const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(Object(value).$ref) ?? [];
    return name === '' ? value : named[name];
  });
  return text.includes('#/components/') ? inlined(JSON.parse(text), named) : JSON.parse(text);
}

test('a subscription to a queue is described beside those with a secret', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first')] });
  const described = Compile(await answerOf(rig, URL, 'post', 201));
  const queue = await rig.subscribe({ source: 'queue', workflowId: 'first', topic: 'orders' });
  const hook: TriggerSubscriptionCreated = (
    await rig.post(URL, { source: 'webhook', workflowId: 'first' })
  ).json();
  assert.ok(described.Check(queue), JSON.stringify(described.Errors(queue)[1]));
  assert.ok(described.Check(hook), JSON.stringify(described.Errors(hook)[1]));
  assert.ok(!described.Check({ ...queue, binding: { topic: 'orders' } }));
  assert.ok(!described.Check({ ...queue, binding: hook.subscription }));
});

test('deliveries are described with their problem, which is there while the queue is away', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first')] });
  const { subscription } = await rig.subscribe({ source: 'queue', workflowId: 'first', topic: 'orders' });
  await rig.publish('orders', 1);
  await rig.outputs('first', 1);
  const schema = await answerOf(rig, `${HOST_URL}/{subscriptionId}/deliveries`, 'get', 200);
  const described = Compile(schema);
  t.mock.method(rig.queue, 'health', async () => {
    throw new OpenwopError('queue_backend_unavailable', { message: 'The queue is away.' });
  });
  const page = await rig.deliveriesOf(subscription.subscriptionId);
  assert.deepEqual([page.problem, page.deliveries.length], ['The queue is away.', 1]);
  assert.ok(described.Check(page), JSON.stringify(described.Errors(page)[1]));
  assert.ok(!described.Check({ ...page, problem: 1 }));
  assert.deepEqual(
    Object.keys(page).filter((name) => !(name in (schema.properties as JsonObject))),
    [],
  );
});
