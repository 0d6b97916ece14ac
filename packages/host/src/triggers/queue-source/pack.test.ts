/** Nodes of packs on both ends: one publishes, the run of another sees the message and acknowledges it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edge, node, workflow } from '../../testing/definitions.ts';
import { queueTest } from './testing/queue-test.ts';

const PUBLISH = 'vendor.acme.publish';
const SEE = 'vendor.acme.see';
const CONSUME = 'core.messaging.consume';

const PACK = {
  manifest: { peerDependencies: { queueBus: 'supported' } },
  nodes: {
    [PUBLISH]: {
      role: 'side-effect',
      body: `return { outputs: await ctx.queueBus.publish({ topic: 'orders', payload: { n: 7 }, headers: { kind: 'new' } }) };`,
    },
    [CONSUME]: { body: `return { outputs: ctx.triggerData };` },
    [SEE]: {
      role: 'side-effect',
      body: `
        const { payload, headers, messageId } = ctx.inputs;
        const { ok } = await ctx.queueBus.ack({ messageId });
        const again = await ctx.queueBus.nack({ messageId }).catch((error) => ({ code: error.code }));
        return { outputs: { payload, headers, ok, again } };`,
    },
  },
};

test('a trigger that names the consume node listens to its topic; its message may be acknowledged once more', async (t) => {
  const rig = await queueTest(t);
  await rig.install(PACK);
  const see = node('see', SEE, {}, {});
  const consumer = workflow('consumer', [node('consume', CONSUME, { topic: 'orders' }), see], {
    edges: ['payload', 'headers', 'messageId'].map((name) =>
      edge('consume', 'see', { id: name, sourceOutput: name, targetInput: name }),
    ),
    triggers: [{ id: 'in', type: 'event', nodeId: 'consume' }],
  });
  await rig.registered(consumer);
  await rig.registered(workflow('producer', [node('publish', PUBLISH)]));
  await rig.ended(await rig.start('producer'));
  const [outputs] = await rig.outputs('consumer', 1);
  assert.deepEqual(outputs, {
    payload: { n: 7 },
    headers: { kind: 'new' },
    ok: true,
    again: { code: 'queue_delivery_token_expired' },
  });
});
