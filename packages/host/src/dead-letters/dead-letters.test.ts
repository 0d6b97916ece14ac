import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { DeadLetter } from '@gantry/protocol';
import { apiTest, assertError } from '../api/testing/api-test.ts';
import { createRedactions } from '../redaction/redactions.ts';
import { createForks } from '../runtime/fork.ts';
import { edge, node, workflow } from '../testing/definitions.ts';
import { TENANT, type TriggersTest, triggersTest } from '../triggers/testing/triggers-test.ts';

const URL = '/v1/host/gantry/dead-letters';
const retries = { settings: { maxRetries: 1, backoffMs: 0 } };
const failing = workflow('failing', [
  node('a', 'core.noop'),
  node('b', 'core.fail', { code: 'out_of_stock' }, retries),
]);
const handled = workflow('handled', [node('b', 'core.fail', {}, retries), node('c', 'core.noop')], {
  edges: [edge('b', 'c', { triggerRule: 'any_failed' })],
});
const once = workflow('once', [node('b', 'core.fail')]);

async function run(rig: TriggersTest, workflowId: string): Promise<string> {
  const request = { inputs: {}, configurable: {}, tags: [], metadata: {}, owner: { tenant: TENANT } };
  const result = await rig.runtime.create({ ...request, workflow: await rig.resolve(workflowId) });
  assert.ok(result.kind === 'created');
  await rig.ended(result.runId);
  return result.runId;
}

const letters = async (rig: TriggersTest, key = 'all') =>
  (await rig.request('GET', URL, undefined, key)).json().deadLetters;

const typesOf = async (rig: TriggersTest, runId: string): Promise<string[]> =>
  (await rig.store.runs.events(TENANT, runId, 0, 100)).map(({ type }) => type);

test('a run whose node used up its retries is a dead letter, before it fails', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const runId = await run(rig, 'failing');
  assert.deepEqual((await typesOf(rig, runId)).slice(-3), ['node.failed', 'run.dead_lettered', 'run.failed']);
  const [letter, ...others] = await letters(rig);
  assert.deepEqual(others, []);
  const { deadLetterId: _id, createdAt: _at, expiresAt: _until, ...rest } = letter;
  assert.deepEqual(rest, {
    type: 'run',
    workflowId: 'failing',
    runId,
    nodeId: 'b',
    reason: 'out_of_stock',
    attempts: 2,
  });
  assert.equal(Date.parse(letter.expiresAt) - Date.parse(letter.createdAt), 30 * 86_400_000);
  assert.deepEqual(await letters(rig, 'other'), []);
});

test('a letter that nobody acknowledged outlives its run', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const runId = await run(rig, 'failing');
  const [{ deadLetterId, expiresAt }] = await letters(rig);
  const later = Date.parse(expiresAt) + 86_400_000;
  await rig.store.retention.deleteEnded(later, 100);
  await rig.store.retention.deleteExpired(later, later, 100);
  assert.equal(await rig.store.runs.row(TENANT, runId), null);
  assert.deepEqual(
    (await letters(rig)).map((letter: { runId: string }) => letter.runId),
    [runId],
  );
  const retried = await rig.request('POST', `${URL}/${deadLetterId}:retry`, {});
  assertError(retried, 404, 'not_found');
  assert.match(retried.json().message, /The run is no longer kept/);
  assert.equal((await rig.request('DELETE', `${URL}/${deadLetterId}`)).statusCode, 204);
  assert.deepEqual(await letters(rig), []);
});

test('what an edge handled, or was never tried again, is none', async (t) => {
  const rig = await triggersTest(t);
  for (const definition of [handled, once]) await rig.register(definition);
  await run(rig, 'handled');
  await run(rig, 'once');
  assert.deepEqual(await letters(rig), []);
});

test('a retry forks the run before the node that failed, once', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const sourceRunId = await run(rig, 'failing');
  const [{ deadLetterId }] = await letters(rig);
  const retry = () => rig.request('POST', `${URL}/${deadLetterId}:retry`, {});
  const answers = await Promise.all([retry(), retry()]);
  const [won, ...more] = answers.filter(({ statusCode }) => statusCode === 202);
  assert.deepEqual(more, []);
  const { runId, ...rest } = won!.json();
  assert.deepEqual(rest, { type: 'run', sourceRunId });
  const { run: forked } = await rig.ended(runId);
  assert.deepEqual([forked.facts.fork?.sourceRunId, forked.visits.get('a')], [sourceRunId, 1]);
  const [again, ...others] = await letters(rig);
  assert.deepEqual([again.runId, others], [runId, []], 'the fork failed again, and only it is listed');
});

test('a repeated request gets its first answer, though the letter is gone', async (t) => {
  const { get, post, request, start, ended } = await apiTest(t, { workflows: [failing] });
  const headers = { 'idempotency-key': 'again' };
  const listed = async () => (await get(URL)).json().deadLetters;
  await ended(await start('failing'));
  const [{ deadLetterId }] = await listed();
  const retry = () => post(`${URL}/${deadLetterId}:retry`, {}, headers);
  const first = await retry();
  assert.equal(first.statusCode, 202);
  await ended(first.json().runId);
  const second = await retry();
  assert.deepEqual([second.statusCode, second.body], [202, first.body]);
  const [left, ...others] = await listed();
  assert.deepEqual([left.runId, others], [first.json().runId, []]);
  const url = `${URL}/${left.deadLetterId}`;
  const acknowledge = () => request({ method: 'DELETE', url, headers });
  const answers = [await acknowledge(), await acknowledge()];
  assert.deepEqual(
    answers.map(({ statusCode, body }) => [statusCode, body]),
    [
      [204, ''],
      [204, ''],
    ],
  );
  assertError(await request({ method: 'DELETE', url }), 404, 'not_found');
});

test('what somebody has seen to is off the list, and the run stays', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const runId = await run(rig, 'failing');
  const [{ deadLetterId }] = await letters(rig);
  assertError(await rig.request('DELETE', `${URL}/${deadLetterId}`, undefined, 'other'), 404, 'not_found');
  assert.equal((await rig.request('DELETE', `${URL}/${deadLetterId}`)).statusCode, 204);
  assert.deepEqual(await letters(rig), []);
  assertError(await rig.request('DELETE', `${URL}/${deadLetterId}`), 404, 'not_found');
  assert.equal((await rig.ended(runId)).run.status, 'failed');
});

test('the list is cut into pages, newest first', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const runIds: string[] = [];
  for (let i = 0; i < 3; i++) {
    rig.clock.at += 1_000;
    runIds.unshift(await run(rig, 'failing'));
  }
  const page = (await rig.request('GET', `${URL}?limit=2`)).json();
  const rest = (await rig.request('GET', `${URL}?limit=2&before=${page.nextBefore}`)).json();
  const listed = [...page.deadLetters, ...rest.deadLetters].map((letter) => letter.runId);
  assert.deepEqual(listed, runIds);
  assert.equal(rest.nextBefore, undefined);
});

test('a replay of a dead run is the same run, and lists nothing', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(failing);
  const sourceRunId = await run(rig, 'failing');
  const source = await rig.ended(sourceRunId);
  const { store, clock } = rig;
  const { prepare: prepareFork } = createForks({
    runs: store.runs,
    now: () => clock.at,
    randomBytes,
    redactions: createRedactions(),
  });
  const { owner } = source.run.facts;
  const replayed = await prepareFork(source, { mode: 'replay', fromSeq: 0, changes: { owner } });
  await rig.runtime.adopt(replayed);
  const { runId } = replayed.run.facts;
  assert.deepEqual(await typesOf(rig, runId), await typesOf(rig, sourceRunId));
  assert.deepEqual(
    (await letters(rig)).map((letter: DeadLetter) => letter.type === 'run' && letter.runId),
    [sourceRunId],
  );
});
