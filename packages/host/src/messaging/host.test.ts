/** Nodes that send messages, through a whole host. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { webReceiver } from './testing/receivers.ts';

const TYPE = 'vendor.acme.say';
/** As published packs call it: the key holds the time. */
const SAY = `
  const say = (text, connectorInstanceId = 'hook') => ctx.messaging.dispatchEgressEnvelope({
    envelope: {
      type: 'chat.egress', version: '1.0', channel: 'slack', accountId: connectorInstanceId,
      delivery: { conversationId: 'C1', threadId: undefined }, content: { text, media: undefined },
      idempotencyKey: 'send-' + ctx.runId + '-' + Date.now() + Math.random(), mode: { typing: false, draftStreaming: false },
    },
    connectorInstanceId, nodeId: ctx.nodeId,
  });
`;

async function host(t: TestContext) {
  const receiver = await webReceiver(t);
  const { port } = new URL(receiver.url);
  const egressAllow = readAllowList(`connector=http://127.0.0.1:${port}`);
  const api = await packTest(t, { settings: { egressAllow } });
  const secret = `Bearer-${port}-secret`;
  const credential = { ref: 'token', kind: 'bearer', audiences: ['127.0.0.1'], value: secret };
  assert.equal((await api.post('/v1/host/gantry/credentials', credential)).statusCode, 201);
  const connector = { connectorId: 'hook', type: 'http', url: receiver.url, credential: 'token' };
  const added = await api.post('/v1/host/gantry/connectors', connector);
  assert.equal(added.statusCode, 201, added.body);
  return {
    ...api,
    ...receiver,
    secret,
    async run(body: string, settings = {}) {
      await api.install({ nodes: { [TYPE]: { body: `${SAY} ${body}`, role: 'side-effect' } } });
      await api.registered(workflow('say', [{ ...node('a', TYPE), settings }]));
      const runId = await api.start('say');
      return { runId, run: await api.ended(runId) };
    },
    async deliveries() {
      await api.host.services.messaging.tick();
      return (await api.get('/v1/host/gantry/connectors/hook/deliveries')).json().deliveries;
    },
  };
}

test('a node sends a message with the credential of its connector, and the log has the decision', async (t) => {
  const api = await host(t);
  assert.deepEqual((await api.get('/.well-known/openwop')).json().messaging, { supported: true });
  const { runId, run } = await api.run(`return await say('Hello');`);
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  const [delivery, ...more] = await api.deliveries();
  assert.deepEqual(more, []);
  assert.deepEqual(run.outputs, { success: true, deliveryId: delivery.deliveryId });
  assert.deepEqual([delivery.state, delivery.runId, delivery.nodeId], ['delivered', runId, 'a']);
  assert.equal(api.got.length, 1);
  assert.equal(api.got[0]?.headers.authorization, `Bearer ${api.secret}`);
  assert.equal(api.got[0]?.headers['idempotency-key'], delivery.deliveryId);
  const log = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).body;
  assert.match(log, /"type":"egress\.decided"/);
  assert.match(log, /"decision":"allowed"/);
  assert.doesNotMatch(log, new RegExp(api.secret));
});

test('a node that runs again has sent its message once, though it makes another key', async (t) => {
  const api = await host(t);
  const { run } = await api.run(
    `const sent = await say('Hello');
     if (ctx.attempt === 0) throw Object.assign(new Error('flaky'), { retryable: true });
     return sent;`,
    { maxRetries: 1, backoffMs: 0 },
  );
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  assert.equal((await api.deliveries()).length, 1);
});

test('what is not configured or not offered has its own code', async (t) => {
  const api = await host(t);
  const { run } = await api.run(`
    const codeOf = (work) => Promise.resolve().then(work).then(() => 'none', (error) => error.code);
    return {
      connector: await codeOf(() => say('Hello', 'nobody')),
      sms: typeof ctx.messaging.sendSms,
    };
  `);
  assert.deepEqual(run.outputs, { connector: 'connector_not_found', sms: 'undefined' });
  const missing = await api.get('/v1/host/gantry/connectors/nobody');
  assert.equal(missing.statusCode, 404);
});
