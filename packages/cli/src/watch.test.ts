import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { onePerFile } from '../../host/src/testing/one-per-file.ts';
import { realHost } from './testing/real-host.ts';

const GATE = workflow('gate', [
  node('review', 'core.approvalGate', { title: 'Publish?', actions: ['accept', 'reject', 'refine'] }),
]);
const FORM = workflow('form', [
  node('details', 'core.clarificationGate', {
    questions: [{ id: 'days', question: 'How many days?', schema: { type: 'integer' } }],
  }),
]);

const openHost = onePerFile((t) => realHost(t, [GATE]));

test('on a terminal, run --watch puts the question and goes on with the answer', async () => {
  const host = await openHost();
  const yes = await host.typing(['what', 'a'], 'run', 'gate', '--watch').finished;
  assert.equal(yes.code, 0, yes.out + yes.err);
  assert.match(yes.out, /Publish\?\n/);
  assert.match(yes.out, /answered by /);
  const no = await host.typing(['r', 'too early'], 'run', 'gate', '--watch').finished;
  assert.equal(no.code, 1, no.out);
});

test('a refused answer is said and asked for again', async (t) => {
  const host = await realHost(t, [FORM]);
  const done = await host.typing(['many', '7'], 'run', 'form', '--watch').finished;
  assert.equal(done.code, 0, done.out + done.err);
  assert.match(done.out, /days/);
});

test('a question that someone else answers is taken back', async () => {
  const host = await openHost();
  const watching = host.typing([], 'run', 'gate', '--watch');
  const [, runId = ''] = await watching.says(/gate (\S+)\n.*Publish\?/s);
  await host.gantry('approve', runId);
  const done = await watching.finished;
  assert.equal(done.code, 0, done.out + done.err);
  assert.match(done.out, /answered by .*completed in/s);
});

test('later: the run goes on waiting, and what to type is said', async () => {
  const host = await openHost();
  const watching = host.typing(['l'], 'run', 'gate', '--watch');
  const [, runId = ''] = await watching.says(/gantry approve (\S+) review/);
  await host.gantry('approve', runId);
  assert.equal((await watching.finished).code, 0);
});

test('without a terminal the question is shown with what to type', async () => {
  const host = await openHost();
  const watching = host.start('run', 'gate', '--watch');
  const [, runId = ''] = await watching.says(/Publish\?\n.*May answer.*\n {4}gantry approve (\S+) review\n/s);
  await host.gantry('approve', runId);
  assert.equal((await watching.finished).code, 0);
});
