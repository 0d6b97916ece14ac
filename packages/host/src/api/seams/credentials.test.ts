/** What the public suite asks of secrets and credentials, asked the way it does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  publicFixturesFolder,
  skipWithoutPublicData as skip,
} from '../../../../protocol/src/testing/public-schemas.ts';
import { seamTest } from './testing/seam-test.ts';

const CANARY = 'OPENWOP_CRED_CANARY_4f1c8a2e9b';

test('credentials/echo: the node has the value, and no surface of its run', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('credentials/echo', { canary: CANARY });
  assert.equal(answer.status, 'completed', JSON.stringify(answer));
  const { secretLength, echoed } = answer.snapshot.outputs;
  assert.deepEqual([secretLength, echoed], [CANARY.length, `[REDACTED:${answer.credentialRef}]`]);
  assert.ok(!JSON.stringify(answer).includes(CANARY));
  const left = await api.get(`/v1/host/gantry/credentials/${answer.credentialRef}`);
  assert.equal(left.statusCode, 404);
  const families = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(families.credentials, {
    supported: true,
    scopes: ['user', 'workspace', 'tenant'],
    encryptionAtRest: true,
    rotation: 'two-key-overlap',
    sharing: true,
  });
  assert.deepEqual(families.secrets, {
    supported: true,
    scopes: ['user', 'tenant', 'run'],
    resolution: 'host-managed',
    resolveInPack: 'supported',
  });
});

test('openwop-smoke-byok-roundtrip: the secret of the suite arrives, by its hash', { skip }, async (t) => {
  const settings = { workflowsDir: publicFixturesFolder, canarySecret: CANARY };
  const api = await seamTest(t, { settings });
  const { fixtures } = (await api.get('/.well-known/openwop')).json();
  assert.ok(fixtures.includes('openwop-smoke-byok-roundtrip'));
  for (let round = 0; round < 2; round++) {
    const run = await api.ended(await api.start('openwop-smoke-byok-roundtrip'));
    assert.equal(run.status, 'completed', JSON.stringify(run));
    const { secretSha256, secretLength } = Object(run.outputs);
    assert.match(secretSha256, /^[0-9a-f]{64}$/);
    assert.equal(secretLength, CANARY.length);
    const events = await api.get(`/v1/runs/${run.runId}/events/poll?timeout=1`);
    assert.ok(!events.body.includes(CANARY));
    const done = events.json().events.filter((event: { type: string }) => event.type === 'node.completed');
    assert.deepEqual(
      done.map(({ nodeId }: { nodeId: string }) => nodeId),
      ['resolve-secret'],
    );
  }
});

test('openwop-smoke-cost-emit: what a model cost is in the run, and nothing else that was told', {
  skip,
}, async (t) => {
  const api = await seamTest(t, { settings: { workflowsDir: publicFixturesFolder } });
  const run = await api.ended(await api.start('openwop-smoke-cost-emit'));
  assert.equal(run.status, 'completed', JSON.stringify(run));
  assert.deepEqual(Object(run.metrics).openwopCost, {
    usd: 0.00123,
    tokens: { input: 100, output: 50 },
    model: 'unknown',
    provider: 'anthropic',
  });
  const { fixtures } = (await api.get('/.well-known/openwop')).json();
  assert.ok(fixtures.includes('openwop-smoke-cost-emit'));
  const { body } = await api.get(`/v1/runs/${run.runId}/events/poll?timeout=1`);
  assert.ok(!/CANARY|evil/.test(body + JSON.stringify(run)), body);
});

test('a secret that is not of the suite is not hashed', async (t) => {
  const api = await seamTest(t);
  const nodes = [
    {
      id: 'a',
      typeId: 'conformance.secret.echo',
      name: 'a',
      position: { x: 0, y: 0 },
      config: { secretId: 'stripe' },
      inputs: {},
    },
  ];
  const more = {
    name: 'x',
    version: '1.0.0',
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  for (const id of ['conformance-other', 'mine']) {
    const refused = await api.post('/v1/host/gantry/workflows', { id, nodes, ...more });
    assert.ok(refused.statusCode >= 400, refused.body);
  }
});
