import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edge, node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertPublic } from './testing/api-test.ts';

const gate = node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const calls = (id: string, workflowId: string) => node(id, 'core.subWorkflow', { workflowId });
const openApi = onePerFile((t) =>
  apiTest(t, {
    workflows: [
      workflow('asks', [gate]),
      workflow('works', [node('wait', 'core.delay', { delayMs: 3_600_000 })]),
      workflow('parent', [calls('one', 'asks')]),
      workflow('busy', [calls('two', 'works'), calls('one', 'asks')], { edges: [] }),
      workflow('goes-on', [calls('one', 'asks'), node('wait', 'core.delay', { delayMs: 3_600_000 })], {
        edges: [],
      }),
      workflow('after', [calls('one', 'asks'), node('last', 'core.noop')], { edges: [edge('one', 'last')] }),
    ],
  }),
);

/** Each look is a read of the store, so this does not spin. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}

test('a run whose child waits for a person waits too, and names the child', async () => {
  const api = await openApi();
  const runId = await api.start('after');
  const read = await until(async () => {
    const answer = await api.get(`/v1/runs/${runId}`);
    return answer.json().status === 'waiting-approval' ? answer : undefined;
  });
  const { childRuns } = read.json();
  assert.deepEqual(
    childRuns.map(({ status }: { status: string }) => status),
    ['waiting-approval'],
  );
  assertPublic('run-snapshot.schema.json', read.json());

  const { runId: child } = childRuns[0];
  const unchanged = { 'if-none-match': String(read.headers.etag) };
  assert.equal((await api.get(`/v1/runs/${runId}`, unchanged)).statusCode, 304);
  const resumeValue = { action: 'accept' };
  assert.equal((await api.post(`/v1/runs/${child}/interrupts/gate`, { resumeValue })).statusCode, 200);
  const ended = await api.ended(runId);
  assert.deepEqual([ended.status, ended.childRuns], ['completed', [{ runId: child, status: 'completed' }]]);
  assert.equal((await api.get(`/v1/runs/${runId}`, unchanged)).statusCode, 200);
});

for (const workflowId of ['busy', 'goes-on'])
  test(`${workflowId}: a run that can still move is running`, async () => {
    const api = await openApi();
    const runId = await api.start(workflowId);
    const { status } = await until(async () => {
      const snapshot = (await api.get(`/v1/runs/${runId}`)).json();
      const statuses = (snapshot.childRuns ?? []).map((child: { status: string }) => child.status);
      return statuses.includes('waiting-approval') ? snapshot : undefined;
    });
    assert.equal(status, 'running');
  });

test('a child whose required variable no mapping names is not started; one that is mapped and unset is', async () => {
  const api = await openApi();
  const variables = [
    { name: 'account', type: 'string' as const, required: true },
    { name: 'got', type: 'boolean' as const },
  ];
  const note = node('a', 'core.setVariable', { name: 'got', expression: 'has(variables.account)' });
  await api.registered(workflow('bank', [note], { variables }));
  const parent = (id: string, inputMapping: Record<string, string>) =>
    workflow(
      id,
      [node('pay', 'core.subWorkflow', { workflowId: 'bank', inputMapping, outputMapping: { got: 'got' } })],
      {
        variables: [
          { name: 'iban', type: 'string' },
          { name: 'got', type: 'boolean' },
        ],
      },
    );
  await api.registered(parent('unmapped', {}));
  await api.registered(parent('unset', { account: 'iban' }));
  const refused = await api.ended(await api.start('unmapped'));
  assert.equal(refused.status, 'failed');
  assert.deepEqual(refused.childRuns, undefined);
  const { code, message } = refused.error as { code: string; message: string };
  assert.equal(code, 'invalid_input');
  assert.match(message, /The inputs for bank are not valid: account is required\. Map it/);
  const ran = await api.ended(await api.start('unset'));
  assert.deepEqual([ran.status, Object(ran.variables).got], ['completed', false]);
});
