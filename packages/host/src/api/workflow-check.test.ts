/** `workflows:check` and the schema for editors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { Ajv } from 'ajv';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { testHost } from '../testing/test-host.ts';

const openHost = onePerFile(testHost);

const good = workflow('good', [node('ask', 'core.approvalGate', { requiredApprovals: 2 })]);

async function check(payload: object): Promise<{ valid: boolean; issues: JsonObject[] }> {
  const { request } = await openHost();
  const answer = await request({ method: 'POST', url: '/v1/host/gantry/workflows:check', payload });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json();
}

test('a definition without faults is valid, also with the schema that it names, and is not registered', async () => {
  assert.deepEqual(await check({ $schema: 'http://x/schema.json', ...good }), { valid: true, issues: [] });
  const { request } = await openHost();
  assert.equal((await request({ url: '/v1/workflows/good' })).statusCode, 404);
});

test('all faults come at once, with the id of their node and the member that is unknown', async () => {
  const wrong = {
    ...good,
    nodes: [node('ask', 'core.approvalGate', { requiredAprovals: 2 }), node('wait', 'core.delay', {})],
    triggers: [{ id: 't', type: 'schedule', config: { cron: '99 * * * *' } }],
  };
  const { valid, issues } = await check(wrong);
  assert.equal(valid, false);
  const found = issues.map(({ path, nodeId = null }) => [path, nodeId]);
  assert.ok(
    issues.some(({ path, nodeId }) => path === '/nodes/0/config/requiredAprovals' && nodeId === 'ask'),
    JSON.stringify(found),
  );
  assert.ok(
    issues.some(({ path }) => path === '/triggers/0/config'),
    JSON.stringify(found),
  );
  const { severity, message, fix } = issues.find(({ nodeId }) => nodeId === 'ask')!;
  assert.deepEqual(
    [severity, message, fix],
    ['error', 'core.approvalGate has no setting requiredAprovals', 'Did you mean requiredApprovals?'],
  );

  const config = { cron: '0 0 * * *', missedTicks: 'later' };
  const choice = await check({ ...good, triggers: [{ id: 't', type: 'schedule', config }] });
  assert.match(String(choice.issues[0]?.message), /missedTicks must be one of skip, fire-once, catch-up/);

  const unknown = await check({ ...good, nodes: [node('what', 'core.nothing', {})] });
  assert.deepEqual([unknown.issues[0]?.path, unknown.issues[0]?.nodeId], ['/nodes/0/typeId', 'what']);

  const many = await check({
    ...good,
    nodes: [
      node('what', 'core.nothing', {}),
      node('ask', 'core.approvalGate', { requiredAprovals: 2 }),
      node('end', 'core.end', {}, { inputs: { a: { type: 'expression', expression: 'variables.' } } }),
    ],
    edges: [
      { id: 'e', sourceNodeId: 'what', targetNodeId: 'nobody' },
      {
        id: 'f',
        sourceNodeId: 'what',
        targetNodeId: 'end',
        condition: { type: 'expression', expression: '1 +' },
      },
    ],
  });
  assert.deepEqual(many.issues.map(({ path }) => path).sort(), [
    '/edges/0/targetNodeId',
    '/edges/1/condition/expression',
    '/nodes/0/typeId',
    '/nodes/1/config/requiredAprovals',
    '/nodes/2/inputs/a/expression',
  ]);

  const misspelt = { ...good, nodes: [{ ...node('ask', 'core.noop'), nmae: 'x' }], edgse: [] };
  const shape = await check(misspelt);
  const texts = shape.issues.map(({ nodeId = '', message }) => `${nodeId} ${message}`);
  assert.ok(texts.includes('ask has no member "nmae" (did you mean "name"?)'), texts.join());
  assert.ok(texts.includes(' has no member "edgse" (did you mean "edges"?)'), texts.join());
});

test('also where some nodes and edges cannot be read', async () => {
  const port = { type: 'expresion', expression: '1' };
  const mixed = await check({
    ...good,
    variables: [{ name: 'city', type: 'string' }],
    variabels: [],
    nodes: [
      { ...node('ask', 'core.nop'), nmae: 'x' },
      { ...node('end', 'core.end'), inputs: { a: port } },
      node('set', 'core.setVariable', { name: 'ctiy', value: 1 }),
      node('what', 'core.sart'),
      { ...node('last', 'core.end'), inputs: { b: { type: 'variable' } } },
      ...Array.from({ length: 4 }, (_, at) => ({ ...node(`n${at}`, 'core.noop'), position: null })),
    ],
    edges: [
      { id: 'e', sourceNodeId: 'ask', targetNodeId: 'end', triggerRule: 'all_succes' },
      { id: 'f', sourceNodeId: 'ask', targetNodeId: 'ste' },
    ],
  });
  assert.deepEqual(
    mixed.issues.map(({ path, message, fix = '' }) => `${path} ${message} ${fix}`.trimEnd()),
    [
      ' has no member "variabels" (did you mean "variables"?)',
      '/nodes/0 has no member "nmae" (did you mean "name"?)',
      '/nodes/1/inputs/a/type must be one of static, expression, connection, variable',
      '/nodes/4/inputs/b must have required properties variableName',
      ...[5, 6, 7, 8].map((at) => `/nodes/${at}/position must be object`),
      '/edges/0/triggerRule must be one of all_success, any_success, all_complete, none_failed, any_failed',
      '/nodes/3/typeId This host does not offer nodes of type core.sart Did you mean core.start?',
      '/edges/1/targetNodeId There is no node ste Did you mean set?',
      '/nodes/2/config/name The workflow declares no variable ctiy Did you mean city?',
    ],
  );
});

test('what would be ignored is told too', async () => {
  const settings = { maxRetrys: 1 };
  assert.deepEqual(await check({ ...good, nodes: [node('a', 'core.noop', {}, { settings })] }), {
    valid: true,
    issues: [
      {
        path: '/nodes/0/settings/maxRetrys',
        nodeId: 'a',
        severity: 'warning',
        message: 'Unknown setting maxRetrys of a node (ignored)',
        fix: 'Did you mean maxRetries?',
      },
    ],
  });
});

test('the schema for editors takes what the host takes, and refuses a misspelt setting', async () => {
  const { request } = await openHost();
  const answer = await request({
    url: '/v1/host/gantry/workflow-schema.json',
    headers: { authorization: '' },
  });
  const validate = new Ajv({ strict: false }).compile(answer.json());
  assert.ok(validate({ $schema: 'http://x', ...good }), JSON.stringify(validate.errors));
  const { id, name, version } = good;
  const short = { id, name, version, nodes: [{ id: 'a', typeId: 'core.noop', name: 'A' }] };
  assert.ok(validate(short), JSON.stringify(validate.errors));
  assert.ok(!validate({ id, name, nodes: short.nodes }));
  assert.ok(!validate({ ...good, nodes: [node('ask', 'core.approvalGate', { requiredAprovals: 2 })] }));
  assert.ok(validate({ ...good, nodes: [node('mine', 'vendor.acme.send', { anything: 1 })] }));
});

test('a workflow that is made for other versions of the protocol is refused, and so is a broken range', async () => {
  for (const openwop of ['>=1.0', '>=1.0.0 <2.0.0', '>=1.2.0'])
    assert.deepEqual(await check({ ...good, engines: { openwop } }), { valid: true, issues: [] });
  for (const [openwop, problem] of [
    ['>=2.0.0', /made for OpenWOP >=2\.0\.0; this host implements 1\./],
    ['new', /broken range new/],
  ] as const) {
    const definition = { ...good, engines: { openwop } };
    const [issue, ...more] = (await check(definition)).issues;
    assert.deepEqual([issue?.path, more], ['/engines/openwop', []]);
    assert.match(String(issue?.message), problem);
    const { request } = await openHost();
    const url = '/v1/host/gantry/workflows';
    const refused = await request({ method: 'POST', url, payload: definition });
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'validation_error'], refused.body);
  }
});

test('decisions that never change are checked, and so are the workers that they name', async () => {
  const lead = (decision: JsonObject) => ({
    ...good,
    nodes: [
      node(
        'lead',
        'core.orchestrator.supervisor',
        {},
        { inputs: { decision: { type: 'static', value: decision } } },
      ),
      node('send', 'core.dispatch'),
    ],
    edges: [
      { id: 'a', sourceNodeId: 'lead', targetNodeId: 'send' },
      { id: 'b', sourceNodeId: 'send', targetNodeId: 'lead' },
    ],
  });
  const { issues } = await check(lead({ kind: 'next-worker', workers: ['report'] }));
  assert.deepEqual(
    issues.map(({ path, nodeId, severity, message }) => [path, nodeId, severity, message]),
    [['/nodes/0/inputs/decision/value', 'lead', 'error', 'A decision of kind next-worker has no workers']],
  );
  const unknown = await check(lead({ kind: 'next-worker', nextWorkerIds: ['good', 'report'] }));
  assert.deepEqual(
    unknown.issues.map(({ path, severity }) => [path, severity]),
    [['/nodes/0/inputs/decision/value/nextWorkerIds/1', 'warning']],
  );
});

test('a pack that is not installed does not hide the other faults', async () => {
  const { valid, issues } = await check({
    ...good,
    nodes: [node('mine', 'vendor.acme.send'), node('set', 'core.setVariable', { name: 'ctiy', value: 1 })],
    edges: [{ id: 'e', sourceNodeId: 'mine', targetNodeId: 'ste' }],
    packs: { 'vendor.acme.tools': { version: '^1.0.0' } },
  });
  assert.equal(valid, false);
  assert.deepEqual(
    issues.map(({ path, severity, fix = null }) => [path, severity, fix]),
    [
      ['/packs', 'error', null],
      ['/edges/0/targetNodeId', 'error', 'Did you mean set?'],
      ['/nodes/1/config/name', 'error', null],
    ],
  );
});

test('a parent is registered before its child, and the answer says what is missing', async () => {
  const { request } = await openHost();
  const parent = workflow('orders', [node('pay', 'core.subWorkflow', { workflowId: 'no-such-child' })]);
  const answer = await request({ method: 'POST', url: '/v1/host/gantry/workflows', payload: parent });
  assert.equal(answer.statusCode, 201, answer.body);
  assert.deepEqual(answer.json().warnings, [
    {
      path: '/nodes/0/config/workflowId',
      nodeId: 'pay',
      severity: 'warning',
      message: 'There is no workflow no-such-child',
      fix: 'Register it before the first run.',
    },
  ]);
  assert.match(String(answer.headers['gantry-warning']), /There is no workflow no-such-child\. Register it/);
});
