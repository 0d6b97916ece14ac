import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, variable, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import {
  type ApiTest,
  apiTest,
  assertError,
  assertPublic,
  secretive,
  slow,
  three,
} from './testing/api-test.ts';

const echo = workflow('echo', [node('say', 'core.identity', {}, { inputs: { word: variable('word') } })], {
  variables: [{ name: 'word', type: 'string' }],
});
const workflows = [three, slow, secretive, echo];

async function diffOf(api: ApiTest, a: string, b: string) {
  const response = await api.get(`/v1/runs/${a}:diff?against=${b}`);
  assert.equal(response.statusCode, 200, response.body);
  assertPublic('run-diff-response.schema.json', response.json());
  return response.json();
}

async function over(api: ApiTest, workflowId: string, inputs = {}): Promise<string> {
  const runId = await api.start(workflowId, { inputs });
  await api.ended(runId);
  return runId;
}

const openApi = onePerFile((t) => apiTest(t, { workflows }));

test('a run and its replay do not differ', async () => {
  const api = await openApi();
  const a = await over(api, 'echo', { word: 'x' });
  const b = (await api.post(`/v1/runs/${a}:fork`, { mode: 'replay' })).json().runId;
  assert.deepEqual(await diffOf(api, a, b), { a, b, divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
});

test('what differs is told by sequence, and by place in the state', async (t) => {
  let now = 1_700_000_000_000;
  const api = await apiTest(t, { workflows, now: () => now });
  const a = await over(api, 'echo', { word: 'x' });
  now += 5_000;
  const b = await over(api, 'echo', { word: 'y' });
  const diff = await diffOf(api, a, b);
  assert.equal(diff.divergedAtSeq, 0);
  assert.deepEqual(diff.stateDiff, {
    '/variables/word': { a: 'x', b: 'y' },
    '/outputs/word': { a: 'x', b: 'y' },
  });
  const [first] = diff.eventDiffs;
  assert.deepEqual(
    [first.seq, first.op, first.aEvent.runId, first.bEvent.runId, first.aEvent.payload.inputs],
    [0, 'changed', a, b, { word: 'x' }],
  );
});

test('a longer log adds, a shorter one removes', async () => {
  const api = await openApi();
  const a = await over(api, 'echo');
  const b = await over(api, 'three');
  const ops = async (left: string, right: string): Promise<string[]> =>
    (await diffOf(api, left, right)).eventDiffs.map(({ op }: { op: string }) => op);
  assert.equal((await ops(a, b)).at(-1), 'added');
  assert.equal((await ops(b, a)).at(-1), 'removed');
});

test('of a run under way only what it has come to is compared', async () => {
  const api = await openApi();
  const [a, b] = [await api.start('slow'), await over(api, 'three')];
  const diff = await diffOf(api, a, b);
  assert.equal(diff.truncated, true);
  assert.ok(diff.eventDiffs.every(({ op }: { op: string }) => op === 'changed'));
});

test('secrets stay masked, and both runs must be the caller’s', async () => {
  const api = await openApi();
  const [a, b] = [
    await over(api, 'secretive', { token: 'hush' }),
    await over(api, 'secretive', { token: 'hum' }),
  ];
  assert.doesNotMatch(JSON.stringify(await diffOf(api, a, b)), /hush|hum"/);
  assertError(await api.get(`/v1/runs/${a}:diff?against=run_none`), 404, 'not_found', { runId: 'run_none' });
  assertError(await api.get(`/v1/runs/run_none:diff?against=${a}`), 404, 'not_found');
  assertError(await api.get(`/v1/runs/${a}:diff`), 400, 'validation_error');
});
