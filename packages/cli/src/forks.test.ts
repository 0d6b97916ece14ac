import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { renderDiff } from './commands/diff.ts';
import { plain } from './style.ts';
import { realHost } from './testing/real-host.ts';

const CHILD = workflow('child', [node('a', 'core.noop')]);
const PARENT = workflow('parent', [node('call', 'core.subWorkflow', { workflowId: 'child' })]);
const GATE = workflow('gate', [node('review', 'core.approvalGate', { title: 'Go?' })], {
  configurableSchema: { type: 'object', properties: { model: { type: 'string' } } },
});

type Host = Awaited<ReturnType<typeof realHost>>;

async function ended({ client }: Host, workflowId: string): Promise<string> {
  const { runId } = await client.runs.create({ workflowId });
  await client.runs.wait(runId);
  return runId;
}

test('fork without options replays the run; diff says that they are the same', async (t) => {
  const host = await realHost(t, [CHILD]);
  const runId = await ended(host, 'child');
  const made = await host.gantry('fork', runId);
  assert.equal(made.code, 0, made.err);
  const [fork = '', hint] = made.out.split('\n');
  assert.equal(hint, `completed. Compare: gantry diff ${runId} ${fork}`);
  const same = await host.gantry('diff', runId, fork);
  assert.equal(same.out, 'The runs are the same.\n');
});

test('fork --at --set branches off; diff shows where they part', async (t) => {
  const host = await realHost(t, [GATE]);
  const { runId } = await host.client.runs.create({ workflowId: 'gate', configurable: { model: 'large' } });
  const { events } = await host.client.runs.poll(runId, { timeoutSeconds: 10 });
  assert.ok(events.length > 0);
  await host.gantry('cancel', runId);
  const made = await host.gantry('fork', runId, '--at', '0', '--set', 'model=small', '--json');
  assert.equal(made.code, 0, made.err);
  const { runId: fork, mode } = JSON.parse(made.out);
  assert.equal(mode, 'branch');
  assert.deepEqual((await host.client.runs.get(fork)).configurable, { model: 'small' });
  await host.client.runs.cancel(fork, { reason: 'enough' });
  await host.client.runs.wait(fork);
  const { out } = await host.gantry('diff', runId, fork);
  assert.match(out, /^The runs differ from event \d+ on\.\n~ A +\d+ .*\n~ B +\d+ /);
});

test('fork: what does not go together is said before the host is asked', async (t) => {
  const host = await realHost(t, []);
  const cases: [string[], RegExp][] = [
    [['--replay', '--branch'], /not both/],
    [['--branch'], /A branch needs --at N/],
    [['--set', 'a=1'], /A branch needs --at N/],
    [['--replay', '--set', 'a=1'], /A replay changes nothing/],
    [['--at', '-1'], /--at/],
  ];
  for (const [args, message] of cases) {
    const done = await host.gantry('fork', 'run_x', ...args);
    assert.equal(done.code, 2, args.join(' '));
    assert.match(done.err, message);
  }
});

test('a difference is shown with its sign, the state with both values, and the rest is counted', () => {
  const event = (sequence: number, value: number) => ({
    eventId: `e${sequence}`,
    runId: 'r',
    type: 'variable.changed',
    payload: { value },
    sequence,
    timestamp: '2026-01-01T00:00:00.000Z',
    schemaVersion: 1,
    engineVersion: '1',
  });
  const found = {
    a: 'a',
    b: 'b',
    divergedAtSeq: 3,
    eventDiffs: [
      { seq: 3, op: 'changed', aEvent: event(3, 1), bEvent: event(3, 2) },
      { seq: 4, op: 'removed', aEvent: event(4, 1) },
      { seq: 5, op: 'added', bEvent: event(5, 1) },
    ],
    stateDiff: { '/variables/total': { a: 1, b: { long: true } }, '/outputs': { b: 2 } },
    truncated: true,
  } satisfies Parameters<typeof renderDiff>[0];
  assert.equal(
    renderDiff(found, 2, plain),
    [
      'The runs differ from event 3 on.',
      '~ A     3  00:00:00.000  variable.changed    {"value":1}',
      '~ B     3  00:00:00.000  variable.changed    {"value":2}',
      '-     4  00:00:00.000  variable.changed    {"value":1}',
      'and 1 more: use --all',
      'Final state:',
      '  /variables/total',
      '    A 1',
      '    B {"long":true}',
      '  /outputs',
      '    A nothing',
      '    B 2',
      'There may be more: a run is still active, or the list was cut.',
      '',
    ].join('\n'),
  );
  assert.match(renderDiff(found, 9, plain), /^\+ {5}5 /m);
});

test('tree shows a run below the one that started it, from either end', async (t) => {
  const host = await realHost(t, [CHILD, PARENT]);
  const parent = await ended(host, 'parent');
  const above = await host.gantry('tree', parent);
  assert.equal(above.code, 0, above.err);
  const child = /\n {2}(\S+) child completed\n$/.exec(above.out)?.[1] ?? assert.fail(above.out);
  assert.equal(above.out, `${parent} parent completed\n  ${child} child completed\n`);
  assert.equal((await host.gantry('tree', child)).out, above.out);
});

test('an ended run and a workflow are deleted by name', async (t) => {
  const host = await realHost(t, [CHILD, PARENT]);
  const runId = await ended(host, 'parent');
  const deleted = await host.gantry('runs', 'delete', runId);
  assert.deepEqual([deleted.code, deleted.out.split('\n').slice(1)], [0, [runId, '2 runs deleted', '']]);
  assert.match((await host.gantry('runs', 'delete', runId)).err, /Not found/);
  const gone = await host.gantry('workflows', 'delete', 'parent');
  assert.deepEqual(
    [gone.code, gone.out],
    [0, 'parent deleted. Its runs stay: gantry runs --workflow parent\n'],
  );
  assert.doesNotMatch((await host.gantry('workflows')).out, /parent/);
});
